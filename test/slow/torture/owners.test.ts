import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import t from 'tap'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'
import {
  NO_NAMESPACES,
  type OwnerProcess,
  type Place,
  startOwner,
} from '../../cli/owner-process.ts'
import { figures, LONG, seeded } from './part.ts'

const ROUNDS = LONG ? 500 : 8
// So many rounds on one data file, so that reading it stays quick.
const EPISODE = 25
const WRITERS = 4
const ANSWERS = 25
const MAX_MS = 60_000

const PLACES: readonly Place[] = NO_NAMESPACES
  ? ['beside']
  : ['beside', 'own pids', 'own host', 'container']
const EVENTS = [
  'second start',
  'paused',
  'killed',
  'lock removed',
  'folder removed',
  'journal removed',
] as const
type Event = (typeof EVENTS)[number]

t.test(
  'two to four processes want one data file: no acknowledged write is lost',
  { skip: process.platform === 'linux' ? false : 'it reads /proc' },
  async (t) => {
    if (NO_NAMESPACES) t.comment(`without namespaces: ${NO_NAMESPACES}`)
    const dir = t.testdir({})
    const server = join(dir, 'one-owner.mjs')
    await build({
      entryPoints: [join(PACKAGE_ROOT, 'test/slow/torture/owner-server.ts')],
      outfile: server,
      bundle: true,
      platform: 'node',
      format: 'esm',
    })
    const chance = seeded()
    const pick = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)]!
    const counts = { acknowledged: 0, lost: 0, 'refused starts': 0, 'take-overs': 0, owners: 0 }
    const byEvent: Record<string, number> = {}
    const running = new Set<OwnerProcess>()
    t.teardown(() => Promise.all([...running].map((process) => process.end('SIGKILL'))))
    let [serial, episode, hosts] = [0, 0, 0]
    let file = ''
    // What must be there, and since which removal: what was asked for before it may be gone.
    let kept = new Set<string>()
    let epoch = 0
    let owner: OwnerProcess | undefined

    async function begin(place = pick(PLACES)) {
      const process = await startOwner(server, file, place, `host${++hosts}`)
      if (process.port === undefined) await process.end('SIGKILL')
      else {
        running.add(process)
        counts.owners++
      }
      return process
    }
    async function end(process: OwnerProcess, signal: 'SIGKILL' | 'SIGTERM') {
      running.delete(process)
      const how = await process.end(signal)
      if (signal === 'SIGTERM' && how !== 0)
        t.fail(`${process.place}: a stop ends with ${how}: ${process.printed()}`)
    }

    async function verify(process: OwnerProcess, when: string) {
      const { ids } = JSON.parse((await process.call('GET', '/')).text)
      const there = new Set(ids)
      const missing = [...kept].filter((id) => !there.has(id))
      counts.lost += missing.length
      if (missing.length > 0)
        t.fail(`${when}: ${missing.length} of ${kept.size} are missing, ${missing.slice(0, 3)}`)
    }

    /** Writes until it is stopped; a process that once said that it is no owner must never acknowledge again. */
    function writing(process: OwnerProcess) {
      const state = { answers: 0, refused: 0, stop: false }
      const loops = Array.from({ length: WRITERS }, async () => {
        while (!state.stop) {
          const id = `n${++serial}`
          const [asked, isLost] = [epoch, state.refused > 0]
          try {
            const { status, text } = await process.call('POST', `/${id}`)
            state.answers++
            if (status === 201) {
              counts.acknowledged++
              if (isLost) t.fail(`${process.place}: it acknowledges after it refused`)
              if (asked === epoch) kept.add(id)
            } else if (/no longer owns/.test(text)) state.refused++
            else t.fail(`${status} ${text}`)
          } catch {
            // Its process was killed.
            return
          }
        }
      })
      return {
        state,
        async until(enough: () => boolean, what: string) {
          const from = performance.now()
          while (!enough()) {
            if (performance.now() - from > MAX_MS) throw new Error(`in vain: ${what}`)
            await new Promise((resolve) => setTimeout(resolve, 2))
          }
        },
        async stop() {
          state.stop = true
          await Promise.all(loops)
        },
      }
    }

    /** A start that must find the file in use. */
    async function beRefused(when: string) {
      const other = await begin()
      if (other.port === undefined && other.code === 3) counts['refused starts']++
      else t.fail(`${when}: a second start ends with ${other.code}: ${other.printed()}`)
    }

    /** Another takes over while the first still writes: both must be right about what they acknowledged. */
    async function beFollowed(first: OwnerProcess, place: Place, pauses: boolean) {
      const before = writing(first)
      await before.until(() => before.state.answers >= ANSWERS, 'answers')
      if (pauses) first.signal('SIGSTOP')
      removeLocks()
      const next = await begin(place)
      if (next.port === undefined)
        throw new Error(`the start after ${first.place} ends with ${next.code}: ${next.printed()}`)
      counts['take-overs']++
      const after = writing(next)
      await after.until(() => after.state.answers >= ANSWERS, 'answers of the next owner')
      if (pauses) first.signal('SIGCONT')
      await before.until(() => before.state.refused >= WRITERS, 'refusals of the first owner')
      await before.stop()
      await after.stop()
      // It leaves all as it is, however it ends.
      await end(first, pick(['SIGKILL', 'SIGTERM']))
      owner = next
      await verify(next, 'after a take-over')
    }

    const folder = () => join(dir, `episode${episode}`)
    function removeLocks() {
      for (const name of readdirSync(folder()))
        if (name.endsWith('.lock')) rmSync(join(folder(), name))
    }

    const events: Record<Event, (first: OwnerProcess) => Promise<void>> = {
      async 'second start'(first) {
        const writes = writing(first)
        await Promise.all(
          Array.from({ length: 1 + Math.floor(chance() * 3) }, () => beRefused('live')),
        )
        const { answers } = writes.state
        await writes.until(() => writes.state.answers >= answers + ANSWERS, 'it goes on')
        await writes.stop()
        t.equal(writes.state.refused, 0)
      },
      async paused(first) {
        const writes = writing(first)
        await writes.until(() => writes.state.answers >= ANSWERS, 'answers')
        first.signal('SIGSTOP')
        await beRefused('paused')
        first.signal('SIGCONT')
        const { answers } = writes.state
        await writes.until(() => writes.state.answers >= answers + ANSWERS, 'it goes on')
        await writes.stop()
        t.equal(writes.state.refused, 0)
      },
      async killed(first) {
        const writes = writing(first)
        await writes.until(() => writes.state.answers >= ANSWERS * chance(), 'answers')
        await end(first, 'SIGKILL')
        await writes.stop()
        const starters = await Promise.all(
          Array.from({ length: 1 + Math.floor(chance() * 3) }, () => begin()),
        )
        const started = starters.filter(({ port }) => port !== undefined)
        if (started.length !== 1) t.fail(`${started.length} of ${starters.length} start at once`)
        for (const { port, code, printed } of starters)
          if (port === undefined && code !== 3) t.fail(`a start ends with ${code}: ${printed()}`)
        counts['refused starts'] += starters.length - started.length
        owner = started[0]
        if (owner) await verify(owner, 'after a kill')
      },
      'lock removed': (first) => beFollowed(first, pick(PLACES), chance() < 0.5),
      'folder removed': (first) => beRemoved(first, () => rmSync(folder(), { recursive: true })),
      'journal removed': (first) => beRemoved(first, () => rmSync(`${file}.journal`)),
    }

    async function beRemoved(first: OwnerProcess, remove: () => void) {
      const writes = writing(first)
      await writes.until(() => writes.state.answers >= ANSWERS, 'answers')
      for (;;) {
        try {
          remove()
          break
        } catch (error) {
          // Something was put into the folder while it was removed.
          if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
        }
      }
      epoch++
      kept = new Set()
      const isThere = existsSync(folder())
      const second = chance() < 0.5 && !isThere ? await begin() : undefined
      const others = second?.port === undefined ? undefined : writing(second)
      await writes.until(() => writes.state.refused >= WRITERS, 'refusals after a removal')
      await others?.until(() => others.state.answers >= ANSWERS, 'answers of the second')
      await writes.stop()
      await end(first, pick(['SIGKILL', 'SIGTERM']))
      await others?.stop()
      owner = second?.port === undefined ? undefined : second
      if (owner) await verify(owner, 'after a removal')
    }

    for (let round = 0; round < ROUNDS; round++) {
      if (round % EPISODE === 0) {
        if (owner) await end(owner, 'SIGKILL')
        owner = undefined
        rmSync(folder(), { recursive: true, force: true })
        episode++
        file = join(folder(), 'db.json')
        kept = new Set()
        epoch++
      }
      owner ??= await begin()
      if (owner.port === undefined) throw new Error(`no start: ${owner.code} ${owner.printed()}`)
      await verify(owner, `before round ${round}`)
      const event = LONG ? pick(EVENTS) : EVENTS[round % EVENTS.length]!
      byEvent[event] = (byEvent[event] ?? 0) + 1
      await events[event](owner)
      if (chance() < 0.3 && owner) {
        // What is on the disk is what counts.
        await end(owner, pick(['SIGKILL', 'SIGTERM']))
        owner = await begin()
        if (owner.port === undefined) throw new Error(`no start: ${owner.code} ${owner.printed()}`)
        await verify(owner, `after ${event}`)
      }
    }
    t.ok(counts.acknowledged > ROUNDS * ANSWERS * 0.5)
    t.equal(counts.lost, 0)
    figures({ rounds: ROUNDS, ...counts, ...byEvent })
  },
)
