import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { build } from 'esbuild'
import t from 'tap'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'
import { createCaller } from '../../cli/caller.ts'
import { figures, LONG, seeded } from './part.ts'
import { FIXTURES, PAYEE, PAYER, PAYMENT } from './two-users.ts'

const CYCLES = LONG ? 2_000 : 5
const CLIENTS = 20
// So small that the document is made anew in most cycles.
const COMPACT_FROM = 1024
// How many answers come before a kill, at most; few of the kills come while the program starts.
const MAX_ANSWERS = 300
const KILLED_AT_START = 0.1
const MAX_START_MS = 150
// A reset after this number of calls limits the size of the stores.
const RESETS = 1 / 30

/** What the responses to one client have confirmed: texts, each for one row. */
type Client = { name: string; kept: Set<string>; inFlight: string | undefined }
const RESET = 'reset'
const after = ({ kept, inFlight }: Client) =>
  inFlight === RESET ? new Set<string>() : new Set(inFlight ? [...kept, inFlight] : kept)

const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })

/** One JSON call; rejects where the connection breaks. */
const call = (port: number, path: string, body?: object) =>
  createCaller(port, agent)(body ? 'POST' : 'GET', path, body)

/** The program of `kill-server.ts` as one file, so that it starts about as fast as the one that is shipped. It reads the scenarios of dist. */
async function bundle(dir: string): Promise<string> {
  const outfile = join(dir, 'server.mjs')
  await build({
    entryPoints: [join(PACKAGE_ROOT, 'test/slow/torture/kill-server.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // Libraries in the bundle that were CommonJS ask for Node's modules by `require`.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  })
  return outfile
}

type Row = Record<string, unknown>
const textOfUser = ({ email, mobile }: Row) => `user ${email} ${mobile}`
const textOfPayment = ({ reference_id }: Row) => `payment ${reference_id}`

/** What a client finds stored, as texts like those it keeps; the fixtures left out. */
async function stored(port: number, { name }: Client): Promise<Set<string>> {
  const { status, text } = await call(port, `/@${name}/__admin/state`)
  if (status !== 200) throw new Error(`${name}: ${status} ${text}`)
  const { users, payments } = JSON.parse(text).tables
  const own = users.filter(({ user_id }: Row) => user_id !== PAYER && user_id !== PAYEE)
  return new Set([...own.map(textOfUser), ...payments.map(textOfPayment)])
}

const same = (a: ReadonlySet<string>, b: ReadonlySet<string>) =>
  a.size === b.size && [...a].every((text) => b.has(text))

t.test(
  'kill -9, again and again, while 20 clients write and the document is made anew',
  async (t) => {
    const dir = t.testdir({})
    const server = await bundle(dir)
    const file = join(dir, 'db.json')
    const args = [file, JSON.stringify(FIXTURES), String(COMPACT_FROM)]
    const chance = seeded()
    const clients = Array.from({ length: CLIENTS }, (_, n): Client => {
      return { name: `w${n}`, kept: new Set(), inFlight: undefined }
    })
    const counts = { acknowledged: 0, lost: 0, 'wrong rows': 0, 'refused starts': 0 }
    let cutShort = 0
    let serial = 0

    function spawned() {
      // What runs this test has no say in how the program starts.
      const { NODE_OPTIONS: _, ...env } = process.env
      const child = fork(server, args, { env, execArgv: [], stdio: ['ignore', 2, 'pipe', 'ipc'] })
      t.teardown(() => child.kill('SIGKILL'))
      let printed = ''
      child.stderr!.setEncoding('utf8').on('data', (text) => {
        printed += text
      })
      return { child, printed: () => printed, ended: once(child, 'exit') }
    }

    /** Starts it and waits for its port; `undefined` where it ended by itself. */
    async function serve() {
      const { child, printed, ended } = spawned()
      const port = await Promise.race([
        once(child, 'message').then(([port]) => port as number),
        ended.then(() => undefined),
      ])
      if (port !== undefined) return { child, port, ended }
      counts['refused starts']++
      t.fail(`a start is refused: ${printed().slice(0, 2_000)}`)
      return undefined
    }

    async function check(port: number) {
      // One after the other: two exports at a time are the maximum.
      for (const client of clients) {
        const found = await stored(port, client)
        const expected = after(client)
        if (!same(found, client.kept) && !same(found, expected)) {
          counts.lost += [...client.kept].filter((text) => !found.has(text)).length
          const wrong = [...found].filter((text) => !client.kept.has(text) && !expected.has(text))
          counts['wrong rows'] += wrong.length
          t.fail(`${client.name}: has ${found.size} rows, not ${client.kept.size}; wrong: ${wrong}`)
        }
        client.kept = found
        client.inFlight = undefined
      }
    }

    async function write(client: Client, port: number, child: ChildProcess, answered: () => void) {
      for (;;) {
        const n = String(++serial).padStart(8, '0')
        const kind = chance()
        const user = { email: `u${n}@example.com`, mobile: `+9197${n}` }
        const payment = { ...PAYMENT, reference_id: `order ${n}` }
        const [path, body, text] =
          kind < RESETS
            ? (['__admin/reset', {}, RESET] as const)
            : kind < 0.5
              ? (['v1/user', user, textOfUser(user)] as const)
              : (['v1/transaction', payment, textOfPayment(payment)] as const)
        client.inFlight = text
        try {
          const answer = await call(port, `/@${client.name}/${path}`, body)
          if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`)
        } catch (error) {
          if (child.killed) return
          throw error
        }
        client.kept = after(client)
        client.inFlight = undefined
        counts.acknowledged++
        answered()
      }
    }

    for (let cycle = 0; cycle < CYCLES; cycle++) {
      // The short form has one such kill, whatever the seed.
      if (LONG ? chance() < KILLED_AT_START : cycle === 2) {
        const { child, ended } = spawned()
        setTimeout(() => child.kill('SIGKILL'), chance() * MAX_START_MS)
        await ended
        continue
      }
      const server = await serve()
      if (!server) break
      const { child, port, ended } = server
      await check(port)
      let answers = 1 + Math.floor(chance() * MAX_ANSWERS)
      const answered = () => {
        if (--answers === 0) child.kill('SIGKILL')
      }
      await Promise.all(clients.map((client) => write(client, port, child, answered)))
      await ended
      if (existsSync(`${file}.tmp`)) cutShort++
    }

    const last = await serve()
    if (!last) return
    await check(last.port)
    for (const { name } of clients) {
      const { text } = await call(last.port, `/@${name}/__admin/clock/advance`, { by: '10s' })
      t.ok(text.includes('"fired"'), `${name}: what was to happen does`)
      const { tables } = JSON.parse((await call(last.port, `/@${name}/__admin/state`)).text)
      t.same(
        tables.payments.filter(({ status }: Row) => status !== 'SUCCESS'),
        [],
      )
    }
    last.child.kill('SIGKILL')
    await last.ended
    agent.destroy()
    t.ok(counts.acknowledged > CYCLES)
    figures({ cycles: CYCLES, clients: CLIENTS, ...counts, 'interrupted documents': cutShort })
  },
)
