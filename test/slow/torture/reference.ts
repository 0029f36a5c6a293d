/**
 * The reference: what the service and its admin API promise, in memory and without HTTP. It is held against the sandbox,
 * so nothing in it is taken from there: it imports no line of `src`.
 */
import { type Call, keyOf, refuse, serviceAnswer, type Wanted } from './reference-service.ts'
import {
  activate,
  advance,
  byId,
  canMove,
  copyOf,
  decideRecord,
  dropTimers,
  happen,
  type Moment,
  movePayment,
  soonestFirst,
  type World,
} from './reference-world.ts'
import { anything, type Slot } from './template.ts'

// biome-ignore lint/suspicious/noExplicitAny: a body is whatever a call sends.
type Json = any

const START = Date.parse('2026-01-01T00:00:00.000Z')
const PARTS = ['data', 'clock', 'scenario', 'assumptions', 'deliveries', 'requests']
const iso = (ms: number) => new Date(ms).toISOString()
const notFound = () => refuse(404, 'not_found')
const ok = (body: object, status = 200): Wanted => ({ status, body })

const emptyMoment = (): Moment => ({
  now: START,
  latest: START,
  checkKyc: false,
  users: [],
  records: [],
  accounts: [],
  payments: [],
  timers: [],
  keys: new Map(),
  scenario: 'default',
  turns: 0,
})

/** What an advance answers; entries of a timeline are left out. */
function fired(happened: () => { at: string; id: string }[]) {
  return function asHappened(actual: Json) {
    const theirs = actual.filter(({ kind }: Json) => kind !== 'timeline.entry')
    const shown = theirs.map(({ at, resource_id }: Json) => ({ at, id: resource_id }))
    return JSON.stringify(shown) === JSON.stringify(happened())
  }
}

function clockAnswer({ at: { now, timers } }: World): Wanted {
  const [next] = soonestFirst(timers)
  const next_timer_at = next ? iso(next.due) : null
  return ok({ now: iso(now), next_timer_at, pending_timers: timers.length })
}

type Handler = (world: World, body: Json, name: string) => Wanted

/** The reference sandbox: its clients, and the answer to a call. */
export function createReference(fixtures: { [client: string]: Partial<Moment> }) {
  const worlds = new Map<string, World>()

  function make(name: string, rows = fixtures[name] ?? fixtures['default']!): World {
    const home = () => copyOf({ ...emptyMoment(), ...rows })
    return { name, home, at: home(), snapshots: new Map() }
  }
  for (const name of Object.keys(fixtures)) worlds.set(name, make(name))

  /** A client as it is, or as its first call would find it. */
  const look = (name: string): World => worlds.get(name) ?? make(name)
  /** A name in a base path makes the client. */
  function enter(name: string): World {
    const world = look(name)
    worlds.set(name, world)
    return world
  }

  function reset(world: World, parts: readonly string[]) {
    const { home, at } = world
    const has = (part: string) => parts.includes(part)
    if (has('data')) {
      const { now, latest, scenario, turns, timers } = at
      const timeline = timers.filter(({ kind }) => kind === 'scenario')
      world.at = { ...home(), now, latest, scenario, turns, timers: timeline }
    }
    if (has('clock')) world.at.now = START
    if (has('scenario')) {
      world.at.turns = 0
      activate(world.at, 'default')
    }
  }

  const sorted = (ids: readonly string[]) => String([...ids].sort())

  /** A resource that can be decided about by hand. */
  function simulate<R extends { id: Slot; status: string }>(
    rows: readonly R[],
    id: string,
    move: (row: R) => Wanted,
    forbidden: (row: R) => boolean,
    world: World,
  ): Wanted {
    const row = byId(rows, id)
    if (!row) return notFound()
    if (forbidden(row)) return refuse(422, 'invalid_transition')
    dropTimers(world.at, (timer) => timer.id === id)
    return move(row)
  }
  const HANDLERS: { [route: string]: Handler } = {
    'GET /clock': clockAnswer,
    'POST /clock/advance'({ at }, { by, to }) {
      const target = by === undefined ? Date.parse(to) : at.now + Number.parseInt(by, 10)
      if (target < at.now) return refuse(422, 'clock_cannot_go_back')
      const happened = advance(at, target)
      return ok({ now: iso(at.now), fired: fired(() => happened) })
    },
    'POST /clock/next'({ at }) {
      const [next] = soonestFirst(at.timers)
      const happened = next ? advance(at, next.due) : []
      return ok({ now: iso(at.now), fired: fired(() => happened) })
    },
    'POST /clock/freeze'(world, { at: instant }) {
      const { at } = world
      const target = instant === undefined ? at.now : Date.parse(instant)
      advance(at, target)
      at.now = target
      return clockAnswer(world)
    },
    'GET /timers': ({ at }) =>
      ok({
        timers: function soonestOnes(actual: Json) {
          const theirs = actual.filter(({ kind }: Json) => kind !== 'timeline.entry')
          const mine = soonestFirst(at.timers).filter(({ kind }) => kind !== 'scenario')
          for (const [i, timer] of mine.entries()) timer.timerId = theirs[i]?.timer_id
          const shown = theirs.map((one: Json) => `${one.at} ${one.resource_id}`)
          return String(shown) === String(mine.map(({ due, id }) => `${iso(due)} ${id}`))
        },
      }),
    'DELETE /timers/:id'({ at }, _body, id) {
      dropTimers(at, ({ timerId }) => timerId === id)
      return ok({ deleted: id })
    },
    'POST /timers/:id/fire'({ at }, _body, id) {
      const timer = at.timers.find(({ timerId }) => timerId === id)!
      const early = timer.due > at.now
      const done = happen(at, timer)
      // Steps that were left out are not made up for.
      const { status } = byId(at.payments, timer.id) ?? {}
      if (done && early && status)
        dropTimers(at, (one) => one.id === timer.id && !canMove(status, one.status))
      const happened = done ? [{ at: iso(at.now), id: timer.id }] : []
      return ok({ now: iso(at.now), fired: fired(() => happened) })
    },
    'POST /reset'(world, { parts = PARTS, all = false }) {
      const reached = all ? [...worlds.values()] : [world]
      for (const one of reached) reset(one, parts)
      const names = sorted(reached.map(({ name }) => name))
      return ok({ reset: (actual: Json) => sorted(actual) === names, parts })
    },
    'GET /scenario': ({ at }) =>
      ok({ name: at.scenario, title: anything, rules: anything, webhooks: anything, expect: [] }),
    'PUT /scenario'(world, { name }) {
      activate(world.at, name)
      return HANDLERS['GET /scenario']!(world, {}, '')
    },
    'POST /simulate/transactions/:id'(world, body, id) {
      const { status, reason } = body
      const move = (row: Moment['payments'][0]) => {
        movePayment(world.at, row, status, reason)
        return ok({ transaction_id: id, status })
      }
      const forbidden = (row: { status: string }) => !canMove(row.status, status)
      return simulate(world.at.payments, id, move, forbidden, world)
    },
    'POST /simulate/kyc/:id'(world, body, id) {
      const { status } = body
      const move = (row: Moment['records'][0]) => {
        decideRecord(world.at, row, status)
        return ok({ kyc_id: id, kyc_status: status })
      }
      const decided = (row: { status: string }) => row.status !== 'pending' || status === 'pending'
      return simulate(world.at.records, id, move, decided, world)
    },
    'GET /snapshots': ({ snapshots }) =>
      ok({
        snapshots: [...snapshots.keys()]
          .sort()
          .map((name) => ({ name, taken_at: iso(snapshots.get(name)!.now) })),
      }),
    'POST /snapshots'({ at, snapshots }, { name }) {
      const replaced = snapshots.has(name)
      snapshots.set(name, copyOf(at))
      return ok({ name, taken_at: iso(at.now), replaced }, 201)
    },
    'DELETE /snapshots/:name'({ snapshots }, _body, name) {
      return snapshots.delete(name) ? ok({ deleted: name }) : notFound()
    },
    'POST /snapshots/:name/restore'(world, _body, name) {
      const snapshot = world.snapshots.get(name)
      if (!snapshot) return notFound()
      world.at = copyOf(snapshot)
      return ok({ restored: name, now: iso(snapshot.now) })
    },
    'PUT /state'(world, from: World) {
      world.at = copyOf(from.at)
      return ok({ now: iso(from.at.now), rows: anything })
    },
    'GET /clients': () =>
      ok({
        clients: function everyClient(actual: Json) {
          const shown = actual.map((one: Json) => [one.name, one.scenario, one.now, one.snapshots])
          const wanted = [...worlds.values()].map(({ name, at, snapshots }) => [
            name,
            at.scenario,
            iso(at.now),
            snapshots.size,
          ])
          return sorted(shown.map(String)) === sorted(wanted.map(String))
        },
      }),
    'POST /clients'(_world, { name, fixtures: rows, from }) {
      if (worlds.has(name)) return refuse(409, 'client_exists')
      const world = rows === 'empty' ? make(name, {}) : make(name)
      if (from) {
        const source = worlds.get(from.client)
        const moment = from.snapshot ? source?.snapshots.get(from.snapshot) : source?.at
        if (!source || !moment) return notFound()
        Object.assign(world, { home: source.home, at: copyOf(moment) })
      }
      worlds.set(name, world)
      return ok({ name, access_token: `sbx_${name}` }, 201)
    },
    'DELETE /clients/:name'(_world, _body, name) {
      if (name === 'default') return refuse(409, 'default_client_required')
      return worlds.delete(name) ? ok({ deleted: name }) : notFound()
    },
  }
  const ROUTES = Object.entries(HANDLERS).map(([route, handler]) => ({
    handler,
    pattern: new RegExp(`^${route.replace(/:\w+/, '([^/]+)')}$`),
  }))

  function adminAnswer(world: World, { method, path, body }: Call): Wanted {
    for (const { handler, pattern } of ROUTES) {
      const found = pattern.exec(`${method} ${path.slice('/__admin'.length)}`)
      if (found) return handler(world, body ?? {}, found[1] ?? '')
    }
    throw new Error(`the reference has no ${method} ${path}`)
  }

  return {
    worlds,
    look,
    /** What the sandbox must answer to a call; what the call does is done. */
    response(call: Call): Wanted {
      if (call.path.startsWith('/__admin')) {
        const isNew = !worlds.has(call.client)
        const wanted = adminAnswer(enter(call.client), call)
        // Nor does an admin call that fails.
        if (isNew && wanted.status >= 400) worlds.delete(call.client)
        return wanted
      }
      return serviceAnswer(enter(call.client), call)
    },
    /** Whether a key has expired and time was set back since: then it may be there still, or not. */
    isUnsure(call: Call): boolean {
      const { at } = look(call.client)
      const kept = call.path.startsWith('/v1') && at.keys.get(keyOf(call))
      return kept ? kept.until > at.now && kept.until <= at.latest : false
    },
  }
}

export type Reference = ReturnType<typeof createReference>
