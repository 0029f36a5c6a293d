import { BadOption, type Options } from '../config/options.ts'
import { formatDuration } from '../model/duration.ts'
import { countOf, jsonLine } from '../model/words.ts'
import type { Plan } from '../tools/sweep/faults-and-findings.ts'
import type { Progress } from '../tools/sweep/sweep.ts'
import { type Input, quoteProgram, quoteShellArguments } from './command.ts'
import { CLEAR } from './output.ts'
import { SANDBOX_FLAGS } from './sweep-sandbox.ts'

const DEFAULT_REPORT = 'sweep-report'
/** The options of a sandbox as they were typed, for a command line that shows a finding again. */
const typedFlags = (flags: Input['flags'], without: readonly string[]): string[] =>
  Object.entries(flags).flatMap(([name, value]) =>
    !Object.hasOwn(SANDBOX_FLAGS, name) || without.includes(name)
      ? []
      : [value]
          .flat()
          .flatMap((one) => (one === true ? [`--${name}`] : [`--${name}`, String(one)])),
  )

/** The command line that sweeps with the faults of a finding alone. */
function againLine(own: readonly string[], program: Input['program'], plan: Plan): string {
  const terms = plan.map(({ name, operation }) =>
    operation === undefined ? name.split('=')[0] : `${name} & ${operation}`,
  )
  const args = ['sweep', ...own, ...(plan.length > 0 ? ['--only', terms.join(',')] : [])]
  return `payout-sandbox ${quoteShellArguments(args)} -- ${quoteProgram(program)}`
}

/** The command line that shows a finding again. The readings of a scenario would have priority over `--assume`. */
export function reproduceLine(
  { flags, program }: Input,
  { scenario: startScenario }: Options,
  finding: string,
  plan: Plan,
): string {
  const isKilled = plan.some(({ kills }) => kills)
  if (flags['url'] !== undefined) return againLine(['--url', String(flags['url'])], program, plan)
  // Only a sweep starts a command again, or lets calls meet.
  if (isKilled) return againLine([...typedFlags(flags, []), '--restart'], program, plan)
  const race = plan.find((fault) => fault.race)?.race
  if (race) {
    const workers = race.workers > 1 ? ['--workers', String(race.workers)] : []
    return againLine([...typedFlags(flags, []), ...workers], program, plan)
  }
  const assume = plan.map(({ scenario }) => Object.entries(scenario.assume ?? {}))
  const isAssumed =
    plan.length === 0 ||
    (startScenario === 'default' && assume.every((readings) => readings.length > 0))
  const folder = String(flags['report'] ?? DEFAULT_REPORT)
  const own = isAssumed
    ? assume.flat().flatMap(([name, reading]) => ['--assume', `${name}=${reading}`])
    : ['--scenarios', folder, '--scenario', finding]
  const typed = typedFlags(flags, isAssumed ? [] : ['scenario', 'scenarios'])
  return `payout-sandbox ${quoteShellArguments(['exec', ...typed, ...own])} -- ${quoteProgram(program)}`
}

export function holdoutOf(value: unknown): string | undefined {
  if (value === undefined || /^[\x21-\x7e]{1,100}$/.test(String(value)))
    return value as string | undefined
  throw new BadOption(
    `--holdout takes a seed of up to 100 visible ASCII characters, not ${JSON.stringify(value)}`,
  )
}

/** What `--reveal` prints. */
export async function sealedText({ flags, program }: Input): Promise<string> {
  const [file, seed] = [String(flags['reveal']), holdoutOf(flags['holdout'])]
  if (seed === undefined || program.length > 0)
    throw new BadOption(
      `--reveal takes the seed, and no program: payout-sandbox sweep --reveal ${quoteShellArguments([file])} --holdout SEED`,
    )
  const { revealed, revealedText } = await import('../tools/sweep/holdout.ts')
  const sealed = revealed(file, seed)
  return flags['json'] ? jsonLine(sealed) : revealedText(sealed)
}

// Between two lines of progress where there is no terminal, real ms.
const LINE_MS = 15_000

/** The progress of a sweep with the time left: a line that changes in a terminal, and a line now and then elsewhere. */
export function createSweepProgress(maxTimeMs = Number.POSITIVE_INFINITY) {
  const { stderr } = process
  const startedAt = performance.now()
  let lineAt = startedAt
  return {
    show({ done, left, found, what }: Progress) {
      const now = performance.now()
      const leftMs = Math.max(
        0,
        Math.min(((now - startedAt) / done) * left, maxTimeMs - (now - startedAt)),
      )
      const time = formatDuration(Math.ceil(leftMs / 1_000) * 1_000)
      const line = `${done} of ${done + left} runs, ${countOf(found, 'finding')}, ${time} left: `
      if (stderr.isTTY) stderr.write(`${CLEAR}${line}${what.slice(0, 60)}`)
      else if (now - lineAt > LINE_MS) {
        lineAt = now
        stderr.write(`${line}${what}\n`)
      }
    },
    end() {
      if (stderr.isTTY) stderr.write(CLEAR)
    },
  }
}
