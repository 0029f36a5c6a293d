// The calls of the service: a time limit for each, a limited number of tries, and pauses that the service asks for.

/** The service carried nothing out, and says so. */
export class Refused extends Error {
  constructor(what, status) {
    super(`${what} was refused with ${status}`)
    this.status = status
  }
}

/** Nobody knows whether the call was carried out. */
export class Unclear extends Error {}

const SECOND = 1_000
const HOUR = 3_600 * SECOND

export const http = (app) => ({
  timeoutMs: 1_500,
  // The time before which the service wants no call.
  quietUntil: 0,

  signal: () => AbortSignal.timeout(app.timeoutMs),

  /** The headers of a call. */
  headers: (_method, _path) => ({
    authorization: `Bearer ${app.token}`,
    'content-type': 'application/json',
  }),

  /** One call, without a second try. */
  async once(method, path, body) {
    const response = await fetch(app.url + app.pathOf(path), {
      method,
      headers: app.headers(method, path),
      signal: app.signal(),
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text }
  },

  pathOf: (path) => path,

  /** The pause in ms that an answer asks for: seconds or a date. */
  retryAfter({ status, headers }) {
    const value = headers.get('retry-after')
    if ((status !== 429 && status !== 503) || value === null) return 0
    const ms = /^\d+$/.test(value) ? Number(value) * SECOND : Date.parse(value) - Date.now()
    return ms > 0 ? Math.min(ms, HOUR) : 0
  },

  /** Whether a call that had this answer was surely not carried out, for a reason that passes. */
  isLater: (status) => status === 429,

  /** Whether this answer is a refusal that no second try can change. */
  isFinal: (status) => status >= 300 && status < 500 && status !== 429,

  /** The document of a 2xx; throws Refused or Unclear. */
  readAnswer(what, answer) {
    const { status, text } = answer
    if (app.isFinal(status)) throw new Refused(what, status)
    if (status >= 300) throw new Unclear(`${what} had the answer ${status}`)
    try {
      return JSON.parse(text)
    } catch {
      throw new Unclear(`${what} had an answer that is not complete`)
    }
  },

  pauseBefore: (tries) => 2 ** (tries - 1) * SECOND,

  /** Calls, and calls again while `tries` are left: after 429 always, otherwise only if a second call does no harm. */
  async call(method, path, body, { tries = 4, isSafe = method !== 'POST' } = {}) {
    const what = `${method} ${path}`
    for (let done = 1; ; done++) {
      await app.wait(app.quietUntil - app.now())
      let isLater = false
      try {
        const answer = await app.once(method, path, body)
        isLater = app.isLater(answer.status)
        app.quietUntil = Math.max(app.quietUntil, app.now() + app.retryAfter(answer))
        return app.readAnswer(what, answer)
      } catch (error) {
        if (error instanceof Refused) throw error
        if (!(isLater || isSafe) || done >= tries) throw new Unclear(`${what}: ${error.message}`)
      }
      await app.wait(app.pauseBefore(done))
    }
  },

  /** All rows of a list, from all its pages. */
  async rowsOf(path, name, options) {
    const rows = []
    for (let page = 1; ; page++) {
      const separator = path.includes('?') ? '&' : '?'
      const { data } = await app.call('GET', `${path}${separator}page=${page}`, undefined, options)
      rows.push(...(data[name] ?? []))
      if (app.isLastPage(data, page)) return rows
    }
  },

  isLastPage(data, page) {
    const pages = data.total_pages ?? Math.ceil((data.total_users ?? 0) / (data.limit || 1))
    return page >= pages
  },
})
