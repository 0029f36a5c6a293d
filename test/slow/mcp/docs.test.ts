import { writeFileSync } from 'node:fs'
import t from 'tap'
import { CALL_FAULTS, LIFECYCLE_FAULTS, WEBHOOK_FAULTS } from '../../../src/tools/faults.ts'
import { listPages } from '../../../src/tools/mcp/resources.ts'
import { TOOLS } from '../../../src/tools/mcp/server.ts'
import { createSweepTool } from '../../../src/tools/mcp/tools/sweep.ts'
import { CALL_NAMES, LIFECYCLE_NAMES, WEBHOOK_NAMES } from '../../../src/tools/sweep/faults.ts'
import { hold, pathOf, read, updating } from '../../held-page.ts'
import { startAgent } from './agent.ts'

const PAGE = 'docs/agents.md'
const sweep = createSweepTool(() => Promise.reject(new Error('not called')))

t.test('docs/agents.md lists the tools, the resources and the prompts', async (t) => {
  const names = [...TOOLS, sweep].map(({ name }) => `\`${name}\``)
  hold(t, PAGE, 'tools', `${names.join(', ')}.\n`)
  const { client } = await startAgent(t)
  const { resources } = await client.listResources()
  const fixed = resources
    .filter(({ uri, mimeType }) => mimeType === 'application/json' && !uri.includes('contract/'))
    .map(({ uri, description }) => `- \`${uri}\`: ${description}\n`)
  hold(t, PAGE, 'resources', fixed.join(''))
  const { prompts } = await client.listPrompts()
  const shown = prompts.map(({ name, description }) => `- \`${name}\`: ${description}\n`)
  hold(t, PAGE, 'prompts', shown.join(''))
})

t.test('docs/scenarios.md lists the faults of sweeps and agents', async (t) => {
  const swept = new Set([...CALL_NAMES, ...LIFECYCLE_NAMES, ...WEBHOOK_NAMES])
  const row = (of: string, faults: object) => {
    const names = Object.keys(faults).map((name) => `\`${name}\`${swept.has(name) ? '' : ' \\*'}`)
    return `- ${of}: ${names.join(', ')}\n`
  }
  const rows = [
    row('call', CALL_FAULTS),
    row('record', LIFECYCLE_FAULTS),
    row('event', WEBHOOK_FAULTS),
  ]
  hold(t, 'docs/scenarios.md', 'faults', rows.join(''))
})

t.test('the configurations of docs/agents.md are JSON', async (t) => {
  const blocks = [...read(PAGE).matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => text!)
  t.equal(blocks.length, 1)
  for (const block of blocks) t.ok(JSON.parse(block).mcpServers['payout-sandbox'])
})

const llmsText = () =>
  [
    '# payout-sandbox',
    '',
    '> A local sandbox for an Indian payout and user-account API: stateful, offline, repeatable, with a clock you control. Agents use it through MCP: docs/agents.md.',
    '',
    '## Docs',
    '',
    ...listPages().map(({ path, title, use }) => `- [${title}](${path}): ${use}`),
    '',
    '## Machine-readable',
    '',
    '- [Schema of scenario files](scenarios/scenario.schema.json)',
    '- [Schema of sweep.json](docs/sweep.schema.json)',
    '- [Schema of coverage.json](docs/coverage.schema.json)',
    '- `payout-sandbox openapi`: the contract of the service; `payout-sandbox openapi --admin`: the admin API',
    '',
  ].join('\n')

t.test('llms.txt lists the pages', async (t) => {
  if (updating) writeFileSync(pathOf('llms.txt'), llmsText())
  else t.equal(read('llms.txt'), llmsText())
})
