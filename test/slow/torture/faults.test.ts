import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

import t from 'tap'
import { nodeDisk } from '../../../src/store/disk.ts'
import { AADHAAR, type Answer, ASHA, PAYMENT, start } from '../../helper.ts'
import { type Errno, type Fault, faultyDisk } from '../../store/faulty-disk.ts'
import { crashCopy } from '../../store/plain-store.ts'
import { contentOf, openFiles } from './content.ts'
import { figures, LONG, SEED } from './part.ts'

const ERRNOS: readonly Errno[] = ['ENOSPC', 'EIO', 'EACCES', 'EROFS', 'EMFILE', 'EDQUOT']
// A disk that fails once, one that fails for a while.
const LENGTHS = [1, 25]
// The short form takes every so-manieth call; the seed says which.
const STRIDE = LONG ? 1 : 149
// Each try makes at least one call: a disk that fails for a while is well again before these are used up.
const MAX_TRIES = 60
const WALL = 1_767_225_600_000

type Step = [method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: object]
const user = (n: number) => ({ email: `u${n}@example.com`, mobile: `+91970000000${n}` })
const payment = (n: number) => ({ ...PAYMENT, amount: 100 + n, reference_id: `order ${n}` })
const rule = { when: { operation: 'createUser' }, then: { respond: { status: 503 } } }
const hour = (n: number) => ({ to: `2026-01-01T0${n}:00:00Z` })

/** Something of everything that changes the state; `compact` and `turn over` are the store's own. */
const RUN: readonly (Step | 'compact' | 'compact beside')[] = [
  ['POST', '/v1/user', user(1)],
  ['POST', '/v1/transaction', payment(1)],
  ['POST', '/v1/kyc', { user_id: ASHA, kyc: [AADHAAR] }],
  'compact beside',
  ['POST', '/v1/user', user(2)],
  ['POST', '/__admin/clock/advance', hour(1)],
  ['POST', '/__admin/snapshots', { name: 'one' }],
  ['POST', '/v1/bank', { user_id: ASHA, account_number: '123456789012', ifsc_code: 'HDFC0000001' }],
  'compact',
  ['POST', '/v1/transaction', payment(2)],
  ['POST', '/__admin/clients', { name: 'fork', from: { client: 'default', snapshot: 'one' } }],
  ['POST', '/@fork/v1/user', user(3)],
  ['GET', '/@auto/v1/users'],
  ['POST', '/@auto/v1/transaction', payment(3)],
  ['POST', '/__admin/rules', { ...rule, times: 1 }],
  ['PUT', '/__admin/scenario', { name: 'stuck-transactions' }],
  ['POST', '/v1/transaction', payment(4)],
  ['POST', '/__admin/snapshots/one/restore'],
  'compact beside',
  ['POST', '/@fork/__admin/reset'],
  ['POST', '/__admin/clock/advance', hour(2)],
  ['DELETE', '/__admin/snapshots/one'],
  ['POST', '/v1/transaction', payment(5)],
  ['DELETE', '/__admin/clients/fork'],
  ['POST', '/__admin/clock/freeze', { at: '2026-01-03T00:00:00Z' }],
  'compact',
  ['POST', '/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: 'whsec_YQ==' }],
  ['POST', '/v1/transaction', payment(6)],
]

type Options = { dir: string; disk?: ReturnType<typeof faultyDisk> }

async function openSandbox({ dir, disk }: Options) {
  const closing: (() => Promise<unknown>)[] = []
  const test = { teardown: (close: () => Promise<unknown>) => closing.push(close) }
  const more = { file: join(dir, 'db.json'), wall: () => WALL, ...(disk && { disk: disk.disk }) }
  return start(test as never, { sandbox: more })
}

/** Data files as a process leaves them that is killed when a journal is begun, and its document is not in place yet. */
async function leftovers(dir: string): Promise<string> {
  const disk = faultyDisk()
  const { renameSync } = disk.disk
  let fails = false
  disk.disk.renameSync = (from, to) => {
    if (fails && String(to).endsWith('db.json'))
      throw Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'rename' })
    renameSync(from, to)
  }
  const { call, sandbox, close } = await openSandbox({ dir: join(dir, 'before'), disk })
  await call('POST', '/v1/user', user(7))
  await sandbox.store.compact()
  await call('POST', '/v1/user', user(8))
  fails = true
  await sandbox.store.compact()
  await call('POST', '/v1/user', user(9))
  crashCopy(join(dir, 'before'), join(dir, 'left'))
  fails = false
  await close()
  const owner = { pid: process.pid, host: hostname(), startedAt: 'an earlier process' }
  writeFileSync(join(dir, 'left/db.json.lock'), JSON.stringify(owner))
  return join(dir, 'left')
}

const openAt = (file: string) => openFiles(file, nodeDisk)

/** What a store finds in a copy of these files. */
async function onDisk(dir: string): Promise<string> {
  const file = crashCopy(dir, `${dir}-copy`)
  const store = await openAt(file)
  const content = contentOf(store)
  await store.close()
  rmSync(`${dir}-copy`, { recursive: true })
  return content
}

const handles = () => readdirSync('/proc/self/fd').length

/** The whole run on a disk with this fault. Throws what it finds wrong; answers all that was stored in the end. */
async function runOnce(
  template: string,
  dir: string,
  disk: ReturnType<typeof faultyDisk>,
): Promise<string> {
  cpSync(template, dir, { recursive: true })
  let opened: Awaited<ReturnType<typeof openSandbox>> | undefined
  for (let tries = 0; !opened; tries++) {
    try {
      opened = await openSandbox({ dir, disk })
    } catch (error) {
      // A start may fail because of the injected fault, with its real name, but not because of its own leftovers.
      if (!(error as { syscall?: string }).syscall || tries === MAX_TRIES) throw error
    }
  }
  const { call, sandbox, close, get } = opened
  const { store } = sandbox
  for (const step of RUN) {
    if (step === 'compact') await store.compact()
    else if (step === 'compact beside') void store.compact()
    else {
      const [method, url, body] = step
      for (let tries = 0; ; tries++) {
        const before = contentOf(store)
        const answer: Answer = await call(method, url, body)
        if (answer.status < 300) break
        const name = `${method} ${url}`
        if (answer.status !== 503 || answer.body.error !== 'storage_unavailable')
          throw new Error(`${name} answers ${answer.text}`)
        // An advance keeps those of its timers that were written.
        if (!url.endsWith('advance') && !url.endsWith('freeze') && contentOf(store) !== before)
          throw new Error(`${name} was refused and left a trace`)
        if (tries === MAX_TRIES) throw new Error(`${name} is refused though the disk is well`)
      }
    }
  }
  await new Promise((resolve) => store.onDurable(resolve))
  const content = contentOf(store)
  // A document may be under way; a fault in it costs no change and makes nothing unhealthy.
  await store.compact()
  const { body: health } = await get('/__admin/health')
  if (health.status !== 'healthy') throw new Error(`it does not heal: ${JSON.stringify(health)}`)
  if ((await onDisk(dir)) !== content) throw new Error('memory and disk differ')
  try {
    await close()
  } catch (error) {
    if (!(error as { syscall?: string }).syscall) throw error
  }
  if ((await onDisk(dir)) !== content) throw new Error('after the stop the disk differs')
  return content
}

t.test('a fault at any call of the file system costs at most the change it hit', async (t) => {
  const dir = t.testdir()
  const template = await leftovers(dir)
  const well = faultyDisk()
  const reference = await runOnce(template, join(dir, 'well'), well)
  const calls = well.state.count
  t.ok(calls > 80, `${calls} calls`)

  const wrong: string[] = []
  let faults = 0
  for (let from = 1 + (SEED % STRIDE); from <= calls; from += STRIDE) {
    for (const length of LENGTHS)
      for (const errno of LONG ? ERRNOS : [ERRNOS[from % ERRNOS.length]!]) {
        const fault: Fault = { from, calls: length, errno }
        const disk = faultyDisk()
        disk.state.fault = fault
        const folder = join(dir, `${from}-${length}-${errno}`)
        const before = handles()
        const name = () => `${errno} at call ${from}, ${length} long (${disk.state.failed})`
        try {
          const content = await runOnce(template, folder, disk)
          if (content !== reference) wrong.push(`${name()}: it ends with another state`)
          // What could not be tidied up is, by the next who comes.
          await (await openAt(join(folder, 'db.json'))).close()
          const left = readdirSync(folder).filter((file) => !/^db\.json(\.journal)?$/.test(file))
          if (left.length > 0) wrong.push(`${name()}: it leaves ${left}`)
          if (handles() > before) wrong.push(`${name()}: ${handles() - before} files stay open`)
        } catch (error) {
          wrong.push(`${name()}: ${(error as Error).stack}`)
        }
        faults++
        rmSync(folder, { recursive: true, force: true })
      }
  }
  t.same(wrong.slice(0, 20), [], `${wrong.length} of ${faults} faults went wrong`)
  figures({ 'calls of a run': calls, faults, failures: wrong.length })
})
