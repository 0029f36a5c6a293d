import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import { problemText } from '../../src/model/errors.ts'
import { FAILURE_REASONS, failureOf } from '../../src/model/payment.ts'
import { EVENTS, OPERATIONS } from '../../src/scenarios/operations-and-events.ts'
import { readScenario } from '../../src/scenarios/read.ts'
import { scenarioJsonSchema } from '../../src/scenarios/scenario-schema.ts'

const guide = readFileSync(join(PACKAGE_ROOT, 'docs/scenarios.md'), 'utf8')
const reference = guide.slice(guide.indexOf('## Reference'))

type Node = {
  properties?: Record<string, Node>
  enum?: string[]
  const?: unknown
  items?: Node
  anyOf?: Node[]
  $ref?: string
  definitions?: Record<string, Node>
}
const root = JSON.parse(scenarioJsonSchema()) as Node
const defined = (name: string): Node => root.definitions![name]!
const at = (node: Node, name: string): Node => node.properties![name]!

/** Each section of the reference, and the part of the schema that it tells. */
const SECTIONS: readonly (readonly [heading: string, node: Node])[] = [
  ['Scenario file', root],
  ['Rule', defined('Rule')],
  ['When', defined('When')],
  ['Comparison', defined('Comparison')],
  ['Outcome', defined('Outcome')],
  ['Step of a transaction', defined('TransactionStep')],
  ['Step of a KYC record', defined('KycStep')],
  ['Result of a PAN check', at(defined('KycStep'), 'result').anyOf![0]!],
  ['Step of a bank account', defined('BankStep')],
  ['Respond', defined('Respond')],
  ['Webhook rule', defined('WebhookRule')],
  ['When of a webhook rule', at(defined('WebhookRule'), 'when')],
  ['Outcome of a webhook rule', at(defined('WebhookRule'), 'then')],
  ['Statement rule', defined('StatementRule')],
  ['When of a statement rule', at(defined('StatementRule'), 'when')],
  ['Outcome of a statement rule', at(defined('StatementRule'), 'then')],
  ['Timeline entry', defined('TimelineEntry')],
  ['Action', defined('Action')],
  ['Simulate', at(defined('Action'), 'simulate')],
  ['Credit', at(defined('Action'), 'credit')],
  ['Credit', at(defined('Action'), 'payout')],
  ['Expect', at(root, 'expect')],
]

const sectionOf = (heading: string) =>
  reference.split('\n### ').find((one) => one.startsWith(`${heading}\n`)) ?? ''

t.test('the reference has the words of the schema, and no others', async (t) => {
  for (const [heading, node] of SECTIONS) {
    const rows = sectionOf(heading).match(/^- (?:`[^`]+`(?:, )?)+: /gm) ?? []
    const documented = rows.flatMap((row) =>
      (row.match(/`[^`]+`/g) ?? []).map((one) => one.slice(1, -1)),
    )
    t.strictSame(documented.sort(), Object.keys(node.properties!).sort(), heading)
  }
})

t.test('the docs list each allowed value of a field', async (t) => {
  for (const [heading, node] of SECTIONS) {
    for (const [word, value] of Object.entries(node.properties!)) {
      const row = sectionOf(heading)
        .split('\n')
        .find((line) => line.startsWith('- ') && line.split(': ')[0]!.includes(`\`${word}\``))!
      const words = [...(value.enum ?? []), ...(value.const === undefined ? [] : [value.const])]
      // Events and operations have lists of their own.
      if (words.length > 8) continue
      for (const one of words) t.ok(row.includes(String(one)), `${heading}: ${word}: ${one}`)
    }
  }
  for (const word of OPERATIONS) t.ok(reference.includes(`\`${word}\``), word)
  const webhooks = readFileSync(join(PACKAGE_ROOT, 'docs/webhooks.md'), 'utf8')
  for (const word of EVENTS) t.ok(webhooks.includes(`\`${word}\``), word)
})

t.test('the docs list each known reason with its source', async (t) => {
  const rows = [...sectionOf('Reasons').matchAll(/^- `(\w+)`: (.+)$/gm)]
  const shown = rows.flatMap(([, source, names]) =>
    names!.split(', ').map((name) => [name.replaceAll('`', ''), source]),
  )
  const known = FAILURE_REASONS.map((reason) => [reason, failureOf(reason).source])
  t.strictSame(shown.sort(), known.sort())
})

t.test('every part of the schema has its section', async (t) => {
  const documented = new Set(SECTIONS.map(([, node]) => node))
  const undocumented: string[] = []
  const seek = (node: Node, path: string) => {
    if (typeof node !== 'object' || node === null) return
    if (node.properties && !documented.has(node)) undocumented.push(path)
    for (const [key, inner] of Object.entries(node)) seek(inner as Node, `${path}/${key}`)
  }
  seek(root, '')
  // The others only vary what has a section: the outcome with a sequence, the operation's comparison, a count.
  t.strictSame(
    undocumented.map((path) => path.replace(/\/anyOf\/\d+$/, '')),
    [
      // docs/assumptions.md lists them.
      '/properties/assume',
      '/properties/expect/properties/requests/additionalProperties',
      '/definitions/Rule/properties/then',
      '/definitions/When/properties/operation',
      '/definitions/When/properties/time',
      '/definitions/When/properties/elapsed',
      '/definitions/WebhookRule/properties/when/properties/time',
      '/definitions/WebhookRule/properties/when/properties/elapsed',
    ],
  )
})

t.test('every snippet reads without a problem or a warning', async (t) => {
  const snippets = [...guide.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text]) => text!)
  t.equal(snippets.length, 8)
  for (const [i, text] of snippets.entries()) {
    const result = readScenario(text, { name: `snippet-${i}`, file: `snippet ${i}` })
    t.strictSame(
      [...(result.ok ? [] : result.problems), ...result.warnings].map(problemText),
      [],
      `snippet ${i}`,
    )
  }
})
