import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { gatherOptions } from '../../src/cli/options.ts'
import { openContent } from '../../src/server.ts'
import { type SweepOptions, sweep } from '../../src/sweep/sweep.ts'
import type { SweepResult } from '../../src/sweep/types.ts'

/** What the small clients have in common. It starts fast: node:http, and a clock that is moved instead of pauses. */
const CALLS = `
import { existsSync, readFileSync, writeFileSync, appendFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
const { PAYOUT_SANDBOX_URL: url, PAYOUT_SANDBOX_ADMIN_URL: admin, PAYOUT_SANDBOX_TOKEN: token } = process.env
const here = import.meta.dirname ?? new URL('.', import.meta.url).pathname
const AMOUNT = '4321.09'
const ORDER = {
  from_user_id: '00000000-0000-4000-8000-000000000001',
  to_user_id: '00000000-0000-4000-8000-000000000003',
  benif_bank_id: 'b0000000-0000-4000-8000-000000000003',
  amount: Number(AMOUNT),
}
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
const isTemporary = ({ status }) => status === undefined || status === 429 || status >= 500
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
`

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const frozen = gatherOptions({ port: '0', memory: true, clock: 'frozen' }, {})
const content = openContent(frozen, silent)

/** Puts a client into a folder, and returns what sweeps it. */
export function smallClient(t: Test, code: string) {
  const cwd = t.testdir({ 'client.mjs': `${CALLS}${code}` })
  const program = [process.execPath, join(cwd, 'client.mjs')]
  return {
    cwd,
    program,
    /** The file that the client has written. */
    read: (name: string) => readFileSync(join(cwd, name), 'utf8'),
    /** Sweeps it in this process. */
    sweep: async (options: Partial<SweepOptions> = {}): Promise<SweepResult> =>
      sweep({
        command: program,
        env: process.env,
        options: frozen,
        ...(await content),
        points: 'first',
        depth: 1,
        jobs: 3,
        isUnstable: false,
        maxRetries: 20,
        folder: mkdtempSync(join(cwd, 'runs-')),
        known: new Set(),
        reproduce: (finding) => finding,
        signal: new AbortController().signal,
        onProgress() {},
        ...options,
      }),
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
