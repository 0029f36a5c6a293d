/**
 * The reference: what the service and its admin API promise, in memory and without HTTP. It is held against the sandbox,
 * so nothing in it is taken from there: it imports no line of `src`.
 */
import {
  type Call,
  isUsedUp,
  keyOf,
  PUSHED,
  refuse,
  serviceAnswer,
  type Wanted,
} from './reference-service.ts'
import {
  activate,
  advance,
  byId,
  canMove,
  copyOf,
  decideAccount,
  decideRecord,
  dropTimers,
  happen,
  type Moment,
  movePayment,
  soonestFirst,
  type World,
} from './reference-world.ts'
import { anything, Slot, uuid } from './template.ts'

// biome-ignore lint/suspicious/noExplicitAny: a body is whatever a call sends.
type Json = any

const START = Date.parse('2026-01-01T00:00:00.000Z')
const PARTS = ['data', 'clock', 'scenario', 'assumptions', 'deliveries', 'requests']
const iso = (ms: number) => new Date(ms).toISOString()
const notFound = () => refuse(404, 'not_found')
const ok = (body: object, status = 200): Wanted => ({ status, body })

/** A client that starts with these rows. */
export type Start = { clientId?: string; rows?: Partial<Moment> }

const emptyMoment = (): Moment => ({
  now: START,
  latest: START,
  mode: 'frozen',
  speed: 1,
  checkKyc: false,
  users: [],
  records: [],
  accounts: [],
  payments: [],
  timers: [],
  webhook: undefined,
  deliveries: [],
  keys: new Map(),
  scenario: 'default',
  turns: 0,
  rules: [],
})

/** What an advance answers; attempts of webhooks have a kind of their own and are left out. */
function fired(happened: () => { at: string; id: string }[]) {
  return function asHappened(actual: Json) {
    const theirs = actual.filter(({ kind }: Json) => !/^webhook|^timeline/.test(kind))
    const shown = theirs.map(({ at, resource_id }: Json) => ({ at, id: resource_id }))
    return JSON.stringify(shown) === JSON.stringify(happened())
  }
}

/** Whether deliveries may have timers, of which the reference knows nothing. */
const maySend = ({ at }: World) => at.deliveries.length > 0

function clockAnswer(world: World): Wanted {
  const { now, mode, speed, timers } = world.at
  const [next] = soonestFirst(timers)
  return ok({
    now: iso(now),
    mode,
    speed,
    next_timer_at: maySend(world) ? anything : next ? iso(next.due) : null,
    pending_timers: maySend(world) ? (actual: Json) => actual >= timers.length : timers.length,
  })
}

type Handler = (world: World, body: Json, name: string) => Wanted

/** The reference sandbox: its clients, and the answer to a call. */
export function createReference(fixtures: { [client: string]: Start }) {
  const worlds = new Map<string, World>()
  const clientIds = new Map<string, Slot>()

  const clientIdOf = (name: string) => {
    const known = clientIds.get(name) ?? uuid(fixtures[name]?.clientId)
    clientIds.set(name, known)
    return known
  }

  function make(name: string, start = fixtures[name] ?? fixtures['default']!): World {
    const home = () => copyOf({ ...emptyMoment(), ...start.rows })
    const clientId = clientIdOf(name)
    return { name, clientId, home, at: home(), snapshots: new Map(), calls: 0 }
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
      const { now, latest, mode, speed, scenario, turns, rules, timers } = at
      const timeline = timers.filter(({ kind }) => kind === 'scenario')
      world.at = { ...home(), now, latest, mode, speed, scenario, turns, rules, timers: timeline }
    }
    if (has('deliveries')) world.at.deliveries = []
    if (has('clock')) Object.assign(world.at, { now: START, mode: 'frozen', speed: 1 })
    if (has('scenario')) {
      Object.assign(world.at, { rules: [], turns: 0 })
      activate(world.at, 'default')
    }
    if (has('requests')) world.calls = 0
  }

  const TABLES = {
    users: 'users',
    kyc: 'records',
    bank_accounts: 'accounts',
    payments: 'payments',
  } as const
  const sorted = (ids: readonly string[]) => String([...ids].sort())
  type Row = { id: Slot; updated: number }
  const byIds = (rows: readonly Row[]) => new Map(rows.map((row) => [row.id.value!, row]))
  /** What was added, removed and changed in each table since a snapshot. */
  function asDifferent(before: Moment, after: Moment) {
    return function differences(actual: Json) {
      return Object.entries(TABLES).every(([table, rows]) => {
        const [was, is] = [byIds(before[rows]), byIds(after[rows])]
        const { added = [], removed = [], changed = [] } = actual[table] ?? {}
        const ids = new Set(changed.map(({ id }: Json) => id))
        return (
          sorted(added) === sorted([...is.keys()].filter((id) => !was.has(id))) &&
          sorted(removed) === sorted([...was.keys()].filter((id) => !is.has(id))) &&
          // A row made anew after a reset may have the id, and all else, of the one before.
          [...is].every(([id, row]) => was.get(id) !== row || !ids.has(id)) &&
          [...is].every(([id, row]) => (was.get(id) ?? row).updated === row.updated || ids.has(id))
        )
      })
    }
  }

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
  const decided = (status: string) => (row: { status: string }) =>
    row.status !== 'pending' || status === 'pending'

  const HANDLERS: { [route: string]: Handler } = {
    'GET /clock': clockAnswer,
    'POST /clock/advance'({ at }, { by, to }) {
      const target = by === undefined ? Date.parse(to) : at.now + Number.parseInt(by, 10)
      if (target < at.now) return refuse(422, 'clock_cannot_go_back')
      const happened = advance(at, target)
      return ok({ now: iso(at.now), fired: fired(() => happened) })
    },
    'POST /clock/next'(world) {
      const { at } = world
      const [next] = soonestFirst(at.timers)
      if (!maySend(world)) {
        const happened = next ? advance(at, next.due) : []
        return ok({ now: iso(at.now), fired: fired(() => happened) })
      }
      // It may be an attempt's time that comes next; then time is where the answer says, and no step was jumped over.
      let happened: { at: string; id: string }[] = []
      const now = function noLater(actual: string) {
        const target = Date.parse(actual)
        if (!(target >= at.now) || (next && target > next.due)) return false
        happened = advance(at, target)
        return true
      }
      return ok({ now, fired: fired(() => happened) })
    },
    'POST /clock/freeze'(world, { at: instant }) {
      const { at } = world
      const target = instant === undefined ? at.now : Date.parse(instant)
      advance(at, target)
      Object.assign(at, { now: target, mode: 'frozen' })
      return clockAnswer(world)
    },
    // The wall clock stands in these runs, so a clock that ticks stands too.
    'POST /clock/resume'(world) {
      world.at.mode = 'real'
      return clockAnswer(world)
    },
    'POST /clock/speed'(world, { factor }) {
      Object.assign(world.at, { mode: 'real', speed: factor })
      return clockAnswer(world)
    },
    'GET /timers': ({ at }) =>
      ok({
        timers: function soonestOnes(actual: Json) {
          const theirs = actual.filter(({ kind }: Json) => !/^webhook|^timeline/.test(kind))
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
    'GET /rules': ({ at }) =>
      ok({
        rules: [...at.rules].reverse().map((rule) => ({
          rule_id: rule.id,
          hits: rule.hits,
          used_up: isUsedUp(rule),
          definition: PUSHED[rule.name],
        })),
      }),
    'POST /rules'({ at }, definition) {
      const name = Object.keys(PUSHED).find((one) => PUSHED[one] === definition)!
      const rule = { id: new Slot(/^rul_\d+$/), name, hits: 0 }
      at.rules.push(rule)
      return ok({ rule_id: rule.id, hits: 0, used_up: false, definition })
    },
    'DELETE /rules/:id'({ at }, _body, id) {
      if (!byId(at.rules, id)) return notFound()
      at.rules = at.rules.filter((rule) => rule.id.value !== id)
      return ok({ deleted: id })
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
      return simulate(world.at.records, id, move, decided(status), world)
    },
    'POST /simulate/bank-accounts/:id'(world, body, id) {
      const move = (row: Moment['accounts'][0]) =>
        ok({ bank_id: id, bank_status: decideAccount(world.at, row, body.status) })
      return simulate(world.at.accounts, id, move, decided(body.status), world)
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
    'GET /snapshots/:name/diff'({ at, snapshots }, _body, name) {
      const before = snapshots.get(name)
      return before ? ok({ snapshot: name, tables: asDifferent(before, at) }) : notFound()
    },
    'PUT /state'(world, from: World) {
      world.at = copyOf(from.at)
      return ok({ now: iso(from.at.now), rows: anything })
    },
    'GET /requests': ({ calls }) =>
      ok({
        total: calls,
        dropped: 0,
        requests: (actual: Json) => actual.length === Math.min(calls, 1),
        next: calls > 1 ? (actual: Json) => typeof actual === 'string' : null,
      }),
    'GET /webhooks/deliveries': ({ at }) =>
      ok({
        total: anything,
        page: 1,
        limit: 100,
        total_pages: anything,
        deliveries: function eventsInOrder(actual: Json) {
          const sent = actual.filter(({ status }: Json) => status !== 'recorded')
          const shown = sent.map((one: Json) => `${one.event} ${one.resource_id}`)
          const wanted = at.deliveries.map(({ event, resource }) => `${event} ${resource}`)
          return String(shown) === String(wanted.reverse().slice(0, 100))
        },
      }),
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
      return ok({ client_id: world.clientId, name, access_token: `sbx_${name}` }, 201)
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
    /** All is kept but the request log. */
    restart() {
      for (const world of worlds.values()) world.calls = 0
    },
  }
}

export type Reference = ReturnType<typeof createReference>
