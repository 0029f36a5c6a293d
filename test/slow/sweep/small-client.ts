import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import { gatherOptions } from '../../../src/cli/options.ts'
import { openContent } from '../../../src/server.ts'
import type { SweepResult } from '../../../src/tools/sweep/faults-and-findings.ts'
import { type SweepOptions, sweep } from '../../../src/tools/sweep/sweep.ts'

/** What the small clients have in common. A clock that is moved takes the place of pauses. */
const CALLS = `
import { existsSync, readFileSync, writeFileSync, appendFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
const here = import.meta.dirname ?? new URL('.', import.meta.url).pathname
const AMOUNT = '4321.09'
const ORDER = {
  from_user_id: '00000000-0000-4000-8000-000000000001',
  to_user_id: '00000000-0000-4000-8000-000000000003',
  benif_bank_id: 'b0000000-0000-4000-8000-000000000003',
  amount: Number(AMOUNT),
}
const isTemporary = ({ status }) => status === undefined || status === 429 || status >= 500
export default async function client({ PAYOUT_SANDBOX_URL: url, PAYOUT_SANDBOX_ADMIN_URL: admin, PAYOUT_SANDBOX_TOKEN: token, PAYOUT_SANDBOX_RUN_DIR: folder }) {
const send = (method, address, body, timeoutMs = 7_000) =>
  new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer ' + token, ...(body && { 'content-type': 'application/json' }) }
    const sent = request(address, { method, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part) => (text += part)).on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode, text }))
    })
    sent.on('error', reject)
    if (timeoutMs > 0) setTimeout(() => sent.destroy(new Error('no answer')), timeoutMs).unref()
    sent.end(body && JSON.stringify(body))
  })
async function call(method, path, body, timeoutMs) {
  const { status, text } = await send(method, url + path, body, timeoutMs)
  if (status >= 300) throw Object.assign(new Error(method + ' ' + path + ' ' + status), { status })
  return JSON.parse(text).data
}
/** Lets time of the sandbox pass. */
const pass = (by) => send('POST', admin + '/clock/advance', { by })
/** Tries again after a pause, three times. */
async function patiently(work, pause = '1100ms', tries = 3) {
  for (let n = 1; ; n++)
    try {
      return await work()
    } catch (error) {
      if (!isTemporary(error) || n === tries) throw error
      await pass(pause)
    }
}
const pay = async (timeoutMs) => (await call('POST', '/transaction', ORDER, timeoutMs))[0]
const get = (id) => patiently(async () => (await call('GET', '/transaction/' + id))[0])
/** The payment in the list, if it was made. */
async function find() {
  for (let page = 1, pages = 1; page <= pages; page++) {
    const list = await patiently(() => call('GET', '/transaction?limit=100&page=' + page))
    pages = list.total_pages
    const found = list.transactions.find(({ amount }) => amount === AMOUNT)
    if (found) return found
  }
}
/** Registers a receiver that gives each event to \`take\`, while \`work\` runs. */
async function receiving(take, work, webhook_secret = 'whsec_dGhlLXN3ZWVwLWlzLXRlc3RlZC1oZXJl') {
  const receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (part) => (body += part))
    request.on('end', () => take(JSON.parse(body), response, body, request.headers))
  })
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  try {
    await call('POST', '/clientWebhook', { url: 'http://127.0.0.1:' + receiver.address().port, webhook_secret })
    await work()
  } finally {
    receiver.close()
    receiver.closeAllConnections()
  }
}
`
const PROGRAM = "import client from './client.mjs'\nawait client(process.env)\n"

const VARIABLES = ['URL', 'ADMIN_URL', 'TOKEN', 'RUN_DIR'].map((name) => `PAYOUT_SANDBOX_${name}`)
let lightCommands = 0
const hasBash = spawnSync('bash', ['-c', 'true']).status === 0

/** A command that takes a twentieth of the start of Node: it has the client run here, and ends with its exit code. */
async function lightCommand(t: Test, cwd: string): Promise<readonly string[]> {
  // A test replaces the file with the next client.
  const { default: client } = await import(
    `${pathToFileURL(join(cwd, 'client.mjs')).href}?${++lightCommands}`
  )
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.setEncoding('utf8').once('data', async (text) => {
      const values = String(text).split(' ')
      const end = await client(
        Object.fromEntries(VARIABLES.map((name, i) => [name, values[i]])),
      ).then(
        () => '0\n',
        (error: Error) => `1\n${error.stack}`,
      )
      socket.end(end)
    })
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const script = `exec 3<>/dev/tcp/127.0.0.1/${port}
printf %s "${VARIABLES.map((name) => `$${name}`).join(' ')}" >&3
read -r code <&3
read -rd '' message <&3
printf %s "$message"
exit "$code"`
  writeFileSync(join(cwd, 'client.sh'), script)
  return ['bash', join(cwd, 'client.sh')]
}

const silent = { info() {}, warn() {}, error() {} }
export const frozen = gatherOptions({ port: '0', memory: true, clock: 'frozen' }, {})
const content = openContent(frozen, silent)

/** Puts a client into a folder, and returns what sweeps it. */
export function smallClient(t: Test, code: string) {
  const cwd = t.testdir({ 'client.mjs': `${CALLS}${code}}\n`, 'program.mjs': PROGRAM })
  const program = [process.execPath, join(cwd, 'program.mjs')]
  let light: Promise<readonly string[]> | undefined
  /** Runs it as `program` does, with less work. */
  const command = async () => {
    light ??= hasBash ? lightCommand(t, cwd) : Promise.resolve(program)
    return light
  }
  return {
    cwd,
    program,
    command,
    /** The file that the client has written. */
    read: (name: string) => readFileSync(join(cwd, name), 'utf8'),
    /** Sweeps it in this process. */
    async sweep(options: Partial<SweepOptions> = {}): Promise<SweepResult> {
      return sweep({
        command: await command(),
        env: process.env,
        options: frozen,
        ...(await content),
        points: 'first',
        depth: 1,
        jobs: 3,
        maxJobs: 3,
        workers: 1,
        isUnstable: false,
        maxRetries: 20,
        known: new Set(),
        reproduce: (finding) => finding,
        signal: new AbortController().signal,
        onProgress() {},
        ...options,
        ...(options.jobs && { maxJobs: options.maxJobs ?? options.jobs }),
      })
    },
  }
}

/** The findings in short. */
export const short = ({ findings }: Pick<SweepResult, 'findings'>): string[] =>
  findings.map(
    ({ verdict, level, plan }) =>
      `${level} ${verdict}: ${plan.map(({ name, operation, nth }) => [name, operation, nth].filter((one) => one !== undefined).join(' ')).join(' + ')}`,
  )

/** The names of the faults that led to a verdict, in the order of the plan. */
export const faultsWith = ({ runs }: SweepResult, verdict: string): string[] =>
  runs.filter((run) => run.verdict === verdict).map(({ plan }) => plan[0]!.name)
