import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import * as z from 'zod'
import type { Assumption } from '../src/assumptions/assumption.ts'
import { ASSUMPTIONS } from '../src/assumptions/readings.ts'
import { COMMANDS } from '../src/cli/main.ts'
import { OPTIONS, type OptionName } from '../src/config/options.ts'
import { Coverage } from '../src/model/coverage.ts'
import { ERRORS, type ErrorCode } from '../src/model/errors.ts'
import { isObject } from '../src/model/formats.ts'
import { ADMIN_CALLS } from '../src/routes/admin/admin-calls.ts'
import { OPERATIONS } from '../src/routes/v1/operations.ts'
import { scenarioJsonSchema } from '../src/scenarios/scenario-schema.ts'
import { NOT_MEASURABLE } from '../src/tools/conform/measuring.ts'
import { WRITE_MEASURES } from '../src/tools/conform/write-measures.ts'
import { SweepDocument } from '../src/tools/sweep/report/sweep-json.ts'
import { run, serve } from './cli/program.ts'
import { hold, pathOf, read, updating } from './held-page.ts'
import { start } from './helper.ts'

/** The words of a curl command: quotes hold a word together. */
const wordsOf = (command: string) =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)

function requestOf(command: string) {
  const words = wordsOf(command)
  const headers: Record<string, string> = {}
  let [method, url, body]: [string | undefined, string, string | undefined] = [
    undefined,
    '',
    undefined,
  ]
  for (let i = 1; i < words.length; i++) {
    const word = words[i]!
    if (word === '-X') method = words[++i]
    else if (word === '-H') {
      const [name, ...value] = words[++i]!.split(': ')
      headers[name!] = value.join(': ')
    } else if (word === '-d') body = words[++i]
    else url = word
  }
  return { url, headers, body, method: method ?? (body === undefined ? 'GET' : 'POST') }
}

t.test('each curl of a page gives the answer that stands below it', async (t) => {
  await holdCurls(t, 'README.md', 2)
  await holdCurls(t, 'docs/endpoints.md', 16, '--assume', 'largest_page=1')
  await holdCurls(t, 'docs/errors.md', 1, '--assume', 'largest_page=1')
  await holdCurls(t, 'docs/testing.md', 5)
})

/** The curls of this page that show no answer: they must be carried out, or fail a verification. */
const WITHOUT_ANSWER: Readonly<Record<string, number>> = { 'docs/testing.md': 3 }

/** The fields of a value, without their values. */
function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(shapeOf))].join()}]`
  if (value === null || typeof value !== 'object') return ''
  return `{${Object.entries(value).map(([key, one]) => key + shapeOf(one))}}`
}

const DOTS = '{ … }'

/** A response whose objects are left out if an earlier one has their fields; its envelope stays. */
function shortened(response: Record<string, unknown>, shapes: Set<string>) {
  const seen = new Set(shapes)
  const text = JSON.stringify(response, (key, value) => {
    if (key === '' || !isObject(value)) return value
    const shape = shapeOf(value)
    shapes.add(shape)
    return seen.has(shape) ? DOTS : value
  })
  return JSON.parse(text) as Record<string, unknown>
}

/**
 * Runs the curl commands of a page, in their order, against a sandbox of its own. A page with options shows each status, and
 * each response in its whole envelope, shortened inside.
 */
async function holdCurls(t: Test, name: string, atLeast: number, ...options: string[]) {
  const { port } = await serve(t, ['--memory', '--clock', 'frozen', ...options])
  const withStatus = options.length > 0
  const page = read(name)
  let updated = ''
  let rest = 0
  const shapes = new Set<string>()
  const blocks = [
    ...page.matchAll(
      /```sh\n(curl .*)\n```\n(?:\n`(\d+ [\w ]+)`\n)?(?:\n```json\n([\s\S]*?)\n```\n)?/g,
    ),
  ]
  t.ok(blocks.length >= atLeast, name)
  const silent = blocks.filter((block) => block[3] === undefined).length
  if (!updating && !withStatus)
    t.equal(silent, WITHOUT_ANSWER[name] ?? 0, `${name}: curls without an answer`)
  for (const block of blocks) {
    const { url, method, headers, body } = requestOf(block[1]!)
    const answer = await fetch(`http://${url.replace('localhost:4310', `127.0.0.1:${port}`)}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
    })
    const received = (await answer.json()) as Record<string, unknown>
    if (name in WITHOUT_ANSWER && block[3] === undefined) {
      t.ok(answer.ok || received['error'] === 'verification_failed', `${method} ${url}`)
      updated += page.slice(rest, block.index + block[0].length)
      rest = block.index + block[0].length
      continue
    }
    const shown = withStatus ? shortened(received, shapes) : received
    const text = JSON.stringify(shown, null, shown['data'] === DOTS ? 0 : 2).replaceAll(
      `"${DOTS}"`,
      DOTS,
    )
    const status = withStatus ? `${answer.status} ${answer.statusText}` : undefined
    if (!updating) t.strictSame(block.slice(2), [status, text], `${method} ${url}`)
    updated += `${page.slice(rest, block.index)}\`\`\`sh\n${block[1]}\n\`\`\`\n${status ? `\n\`${status}\`\n` : ''}\n\`\`\`json\n${text}\n\`\`\`\n`
    rest = block.index + block[0].length
  }
  if (updating) writeFileSync(pathOf(name), updated + page.slice(rest))
}

t.test('the page of scenarios lists the magic values', async (t) => {
  const { get } = await start(t)
  const { magic_values } = (await get('/__admin/magic-values')).body
  let text = ''
  for (const { operation, field, value, outcome } of magic_values) {
    const head = `# ${field} of ${operation}\n`
    if (!text.includes(head)) text += head
    text += `${value.padEnd(13)} ${outcome}\n`
  }
  hold(t, 'docs/scenarios.md', 'magic values', `\`\`\`text\n${text}\`\`\`\n`)
})

t.test('the pages list the options there are', async (t) => {
  function rowOf(name: OptionName) {
    const { default: fallback, valueName, description } = OPTIONS[name]
    const shown =
      typeof fallback === 'string' || typeof fallback === 'number'
        ? ` (default: \`${fallback}\`)`
        : ''
    return `- \`--${name}${valueName ? ` ${valueName}` : ''}\`: ${description}${shown}\n`
  }
  const rows = (Object.keys(OPTIONS) as OptionName[]).map(rowOf)
  hold(t, 'docs/cli.md', 'options', rows.join(''))
})

t.test('the page of assumptions lists those there are', async (t) => {
  const rowOf = ({ name, question, why, readings, form, default: fallback }: Assumption) => {
    const shown = (reading: string, does: string) =>
      does === reading ? `\`${reading}\`` : `\`${reading}\`: ${does}`
    const others = Object.entries(readings)
      .filter(([reading]) => reading !== fallback)
      .map(([reading, { does }]) => shown(reading, does))
    if (form) others.push(shown(form.syntax, form.does))
    const usual = shown(fallback, readings[fallback]!.does)
    return `| \`${name}\`: ${question} | ${usual} | ${others.join('<br>')} | ${why} |\n`
  }
  const unswept = ASSUMPTIONS.flatMap(({ name, readings, form }) =>
    [...Object.entries(readings), ...(form ? [[form.syntax, form] as const] : [])]
      .filter(([, { notAbsorbable }]) => notAbsorbable !== undefined)
      .map(([reading]) => `\`${name}=${reading}\``),
  )
  const table = `| question | default | other readings | what goes wrong |\n|---|---|---|---|\n${ASSUMPTIONS.map(rowOf).join('')}`
  const skipped = `A sweep skips what no code could pass: ${unswept.join(', ')}.\n`
  hold(t, 'docs/assumptions.md', 'assumptions', `${table}\n${skipped}`)
})

t.test('the pages list the commands there are', async (t) => {
  const rows = COMMANDS.map(({ name, usage, summary }) => {
    const forms = usage.map(([words]) => words.replace(name, '').trim().replace('[]', ''))
    const shown = forms.filter((form) => form !== '').map((form) => ` \`${form}\``)
    return `- **\`${name}\`**${shown.join()}: ${summary.replace(' of a running sandbox', '')}\n`
  })
  hold(t, 'docs/cli.md', 'commands', rows.join(''))
})

t.test('docs/endpoints.md calls each endpoint', async (t) => {
  const called = [...read('docs/endpoints.md').matchAll(/```sh\n(curl .*)\n/g)].map(
    ([, command]) => {
      const { method, url } = requestOf(command!)
      return `${method} ${url.replace(/^[^/]+|\?.*/g, '')}`
    },
  )
  t.equal(OPERATIONS.length, 16)
  for (const { method, url } of OPERATIONS) {
    const path = new RegExp(`^${method} /v1${url.replaceAll(/:\w+/g, '[\\da-f-]{36}')}$`)
    const isCalled = called.some((call) => path.test(call))
    t.ok(isCalled, `${method} ${url}`)
  }
})

t.test('docs/errors.md is the registry of error words', async (t) => {
  const rows = (Object.keys(ERRORS) as ErrorCode[])
    .map((word) => `- ${ERRORS[word][0]} \`${word}\`: ${ERRORS[word][1]}\n`)
    .sort()
  hold(t, 'docs/errors.md', 'errors', rows.join(''))
})

t.test('docs/admin-api.md lists every admin call', async (t) => {
  const rows = ADMIN_CALLS.map(
    ({ method, url, summary }) => `- \`${method} /__admin${url}\`: ${summary}\n`,
  )
  hold(t, 'docs/admin-api.md', 'calls', rows.join(''))
})

t.test('docs/conform.md shows what conform prints, and what it measures', async (t) => {
  const page = 'docs/conform.md'
  const command = /```console\npayout-sandbox (conform .+)\n```/.exec(read(page))![1]!
  const printed = async (code: number, ...options: string[]) => {
    const { port } = await serve(t, ['--memory', '--clock', 'frozen', ...options])
    const received = await run(command.replace('4310', String(port)).split(' '))
    t.equal(received.code, code)
    return received.stdout.replaceAll(String(port), '4310').split('\n\n')
  }
  t.match((await printed(0)).at(-1), /^No differences: \d+ calls to/)
  const parts = await printed(1, '--auth', 'off')
  const readings = parts[parts.indexOf('Open points of the contract') + 1]!
  const rows = readings.split('\n').slice(0, 3)
  const shown = [
    ...parts.slice(0, 2),
    '…',
    'Open points of the contract',
    [...rows, '…'].join('\n'),
  ]
  const text = [...shown, ...parts.slice(-3)].join('\n\n')
  hold(t, page, 'differing', `\`\`\`text\n${text}\`\`\`\n`)
  const list = (measures: object) =>
    Object.keys(measures)
      .map((name) => `\`${name}\``)
      .join(', ')
  const measured = `Only \`--write\` measures ${list(WRITE_MEASURES)}. Never measured: ${list(NOT_MEASURABLE)}.\n`
  hold(t, page, 'measured', measured)
})

t.test('docs/first-payout.md shows the example that is run', async (t) => {
  const file = 'examples/first-payout/node.test.mjs'
  hold(t, 'docs/first-payout.md', file, `\`\`\`js\n${read(file)}\`\`\`\n`)
})

t.test('the JSON Schemas of files are those of the program', async (t) => {
  const textOf = (schema: z.ZodType) =>
    `${JSON.stringify(z.toJSONSchema(schema, { target: 'draft-7', reused: 'inline' }), null, 2)}\n`
  const schemas = {
    'scenarios/scenario.schema.json': scenarioJsonSchema(),
    'docs/sweep.schema.json': textOf(SweepDocument),
    'docs/coverage.schema.json': textOf(z.strictObject(Coverage.shape)),
  }
  for (const [file, text] of Object.entries(schemas))
    if (updating) writeFileSync(pathOf(file), text)
    else t.equal(read(file), text, file)
})
