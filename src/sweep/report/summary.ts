import { plainText } from '../../report/markup.ts'
import { planText } from '../plans.ts'
import type { SweepResult } from '../types.ts'
import { commandText, countsText, levelText } from './words.ts'

/** A text on one line of Markdown, in which nothing is markup. */
const inline = (text: string) =>
  plainText(text)
    .replaceAll(/[\n\t]/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_[\]#|~>@]/g, '\\$&')
    // GitHub makes a link of an address without any markup.
    .replaceAll('://', ':\\//')

/** A block of code; its fence is longer than any in the text. */
function block(text: string): string {
  const longest = [...text.matchAll(/`+/g)].reduce((max, [run]) => Math.max(max, run.length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}sh\n${plainText(text).replaceAll('\n', ' ')}\n${fence}\n`
}

/** `summary.md`: what a CI job shows on its page. */
export function summaryMarkdown(result: SweepResult): string {
  const { findings } = result
  const head = `# payout-sandbox sweep\n\n${inline(commandText(result))}\n\n${inline(countsText(result))}\n`
  if (findings.length === 0) return `${head}\nNo findings.\n`
  const rows = findings.map(
    (found) =>
      `| ${found.finding} | ${found.verdict} (${levelText(found)}) | ${inline(planText(found.plan))} | ${inline(found.happened)} |\n`,
  )
  const commands = findings.map(({ finding, reproduce }) => `\n${finding}:\n\n${block(reproduce)}`)
  return `${head}
| finding | verdict | what was done | what happened |
|---|---|---|---|
${rows.join('')}
## Show them again
${commands.join('')}`
}
