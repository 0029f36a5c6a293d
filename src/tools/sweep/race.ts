import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Middleware } from '../../app.ts'
import { ENDPOINT_OF, OPERATIONS } from '../../scenarios/operations-and-events.ts'
import type { World } from '../../world/world.ts'
import type { Plan, Race, SeenDelivery } from './faults-and-findings.ts'

/** What a plan makes meet. */
export const raceOf = (plan: Plan): Race | undefined => plan.find(({ race }) => race)?.race

// Real ms that a call waits for another one, and how many may wait in vain: the other worker may wait for this one.
const HOLD_MS = 300
const MAX_ALONE = 5
const MAX_PAIRS = 50
// The first calls of the workers wait for each other as long as two starts of the command may differ.
const START_MS = 5_000
const RESPONSE_MS = 500
const MAX_STEPS = 50
const EVENT_MS = 2_000

// A path without a parameter comes first: /transaction/history is no /transaction/:transaction_id.
const PATTERNS = OPERATIONS.map((operation) => {
  const [method, path] = ENDPOINT_OF[operation].split(' ')
  const pattern = path!.replaceAll(/:\w+/g, '([^/?]+)')
  return { operation, method, path: new RegExp(`^(?:/@[^/]+)?/v1${pattern}/?(?:\\?|$)`) }
}).sort(
  (a, b) => ENDPOINT_OF[a.operation].split(':').length - ENDPOINT_OF[b.operation].split(':').length,
)

const operationOf = ({ method, url = '' }: IncomingMessage) =>
  PATTERNS.find((one) => one.method === method && one.path.test(url))

type Call = {
  request: IncomingMessage
  response: ServerResponse
  worker: number | undefined
  go: () => void
}

/** The access token by which the sandbox knows a worker: only the sweep reads what is after it. */
export const tokenOfWorker = (token: string, worker: number) => `${token}~${worker}`
const OF_WORKER = /~(\d)$/

/** Lets the calls of a run meet: the sandbox decides who goes first, so no worker has to be slow. */
export class Meeting {
  /** How many pairs of calls have met. */
  pairs = 0
  /** The workers that have called, and those that have ended. */
  readonly callers = new Set<number>()
  /** Some call didn't have the token of its worker. */
  isAnonymous = false
  readonly #race: Race
  readonly #ended = new Set<number>()
  readonly #workers = new WeakMap<object, number>()
  #held: Call[] = []
  #alone = 0
  #starting: (() => void)[] | undefined = []
  #worlds: () => Iterable<World>
  #deliveries: readonly SeenDelivery[]

  constructor(race: Race, worlds: () => Iterable<World>, deliveries: readonly SeenDelivery[]) {
    this.#race = race
    this.#worlds = worlds
    this.#deliveries = deliveries
  }

  /** The worker that sent a request with these headers. */
  workerOf = (headers: object): number | undefined => this.#workers.get(headers)

  /** How often the race happened: how many pairs met, or whether each worker has called. */
  hits = (): number =>
    this.#race.holds
      ? this.pairs
      : this.isAnonymous || this.callers.size === this.#race.workers
        ? 1
        : 0

  ended(worker: number) {
    this.#ended.add(worker)
    this.#start()
  }

  middleware: Middleware = (request, response, next) => {
    const call = { request, response, worker: this.#takeWorker(request), go: next }
    if (!request.url?.includes('/v1')) return next()
    if (call.worker === undefined) this.isAnonymous = true
    else this.callers.add(call.worker)
    const pass = () => this.#pass(call)
    if (this.#race.workers < 2 || call.worker === undefined || !this.#starting) return pass()
    this.#starting.push(pass)
    setTimeout(() => this.#start(true), START_MS).unref()
    this.#start()
  }

  /** Reads and removes the worker from the token of a request. */
  #takeWorker({ headers }: IncomingMessage): number | undefined {
    const [end, worker] = OF_WORKER.exec(headers.authorization ?? '') ?? []
    if (end === undefined) return undefined
    headers.authorization = headers.authorization!.slice(0, -end.length)
    this.#workers.set(headers, Number(worker))
    return Number(worker)
  }

  /** Lets the first calls go when each worker has made one or has ended. */
  #start(isLate = false) {
    const { size } = new Set([...this.callers, ...this.#ended])
    if (size < this.#race.workers && !isLate) return
    const waiting = this.#starting ?? []
    this.#starting = undefined
    for (const go of waiting) go()
  }

  #pass(call: Call) {
    const { holds, bringsEvent } = this.#race
    const found = operationOf(call.request)
    if (bringsEvent && found?.operation === 'getTransaction') {
      call.go()
      return void this.#bringEvent(found.path.exec(call.request.url!)![1]!)
    }
    const isDone = this.#alone >= MAX_ALONE || this.pairs >= MAX_PAIRS
    if (holds === undefined || found?.operation !== holds || isDone) return call.go()
    const other = this.#held.find((one) => isOther(one, call))
    if (other) return this.#meet(other, call)
    this.#held.push(call)
    const leave = () => {
      if (!this.#held.includes(call)) return
      this.#held = this.#held.filter((one) => one !== call)
      this.#alone++
      call.go()
    }
    setTimeout(leave, HOLD_MS).unref()
  }

  /** Lets one call go, and the other one when the first has its response. */
  #meet(earlier: Call, later: Call) {
    this.pairs++
    this.#alone = 0
    this.#held = this.#held.filter((one) => one !== earlier)
    const isSorted = (earlier.worker ?? 0) <= (later.worker ?? 0)
    const pair = isSorted ? [earlier, later] : [later, earlier]
    const [first, second] = (this.#race.isReversed ? pair.reverse() : pair) as [Call, Call]
    let isGone = false
    const follow = () => {
      if (!isGone) second.go()
      isGone = true
    }
    first.response.once('finish', follow).once('close', follow)
    setTimeout(follow, RESPONSE_MS).unref()
    first.go()
  }

  /** Moves the clock until the next event about a payment was delivered, then lets the read go on. */
  async #bringEvent(id: string) {
    const isWaiting = (world: World) => world.requests.delayed.count > 0
    let world: World | undefined
    for (let tries = 0; tries < MAX_STEPS && !world; tries++) {
      await setImmediate()
      world = [...this.#worlds()].find(isWaiting)
    }
    if (!world) return
    const count = () => this.#deliveries.filter((one) => one.resource_id === id).length
    const before = count()
    const { timers } = world.clock
    const bring = async () => {
      for (let steps = 0; steps < MAX_STEPS && count() === before && timers.next(); steps++)
        await timers.advanceToNext()
    }
    // A receiver may wait for the read.
    await Promise.race([bring().catch(() => {}), sleep(EVENT_MS, undefined, { ref: false })])
    world.requests.delayed.runAll()
  }
}

const isOther = (held: Call, { worker, request }: Call) =>
  held.worker === undefined || worker === undefined
    ? held.request.socket !== request.socket
    : held.worker !== worker

/** Watches how long callers wait for a response that never comes, real ms. */
export function watchPatience() {
  let longestMs: number | undefined
  return {
    longestMs: () => longestMs,
    middleware({ method }: IncomingMessage, response: ServerResponse, next: () => void) {
      const beganAt = performance.now()
      response.once('close', () => {
        if (method !== 'POST' || response.writableEnded) return
        longestMs = Math.max(longestMs ?? 0, performance.now() - beganAt)
      })
      next()
    },
  }
}
