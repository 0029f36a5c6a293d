import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { type Browser, chromium, type Page, type Request } from 'playwright-core'
import type { Test } from 'tap'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'
import type { World } from '../../../src/world/world.ts'
import { type StartOptions, start } from '../../helper.ts'
import { createWire } from './wire.ts'

// Long enough for a busy machine. No test waits for a fixed time.
const TIMEOUT_MS = 20_000

// The script is JavaScript without types. The page is that of dist/console.
const { findChromium, startBrowser } = await import(join(PACKAGE_ROOT, 'test/slow/chromium.mjs'))

/** The reason why the console tests cannot run here; `false` if they can. */
export const noBrowser: string | false =
  findChromium() === undefined && 'no chromium on the PATH; set CHROMIUM=/path/to/chromium'

/** A connection to the browser of the whole run, and its sockets. */
async function connect(endpoint: string) {
  const sockets: Socket[] = []
  const note = (message: unknown) => sockets.push((message as { socket: Socket }).socket)
  subscribe('net.client.socket', note)
  const browser = await chromium.connect(endpoint)
  unsubscribe('net.client.socket', note)
  return { browser, sockets }
}

let connection: Awaited<ReturnType<typeof connect>> | undefined

/**
 * One browser for all tests: that of the whole run if there is one, or a new one. All files of a process share a connection
 * to that of the run; it keeps the process alive only during a test.
 */
export async function openBrowser(t: Test): Promise<Browser> {
  const endpoint = process.env['TEST_BROWSER']
  if (endpoint === undefined) {
    const server = await startBrowser()
    t.teardown(() => server.close())
    return chromium.connect(String(server.wsEndpoint()))
  }
  if (!connection?.browser.isConnected()) connection = await connect(endpoint)
  const { browser, sockets } = connection
  for (const socket of sockets) socket.ref()
  t.teardown(() => {
    for (const socket of sockets) socket.unref()
  })
  return browser
}

const LISTENED = 'console framenavigated pageerror request requestfailed requestfinished'

// Each frame of a transition is rendered, and a check of colours may see one in between.
const CONTEXT = {
  viewport: { width: 1200, height: 800 },
  reducedMotion: 'reduce',
  timezoneId: 'Asia/Kolkata',
} as const

/** The pages that no test uses now. A new page takes Chromium a second: a process, and a profile for its context. */
const freePages = new WeakMap<Browser, Page[]>()

// Tests compare calls, and times in UTC. `defaults.test.ts` shows what a user sees first.
const SETTINGS = `try {
  localStorage['payout-sandbox times'] ??= 'utc'
  localStorage['payout-sandbox calls'] ??= 'shown'
} catch {}`

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

async function newPage(browser: Browser, more: object = {}): Promise<Page> {
  const context = await browser.newContext({ ...CONTEXT, ...more })
  await context.addInitScript(SETTINGS)
  const page = await context.newPage()
  page.setDefaultTimeout(TIMEOUT_MS)
  return page
}

/** Makes a used page as new but for its clock. */
async function renew(page: Page) {
  for (const event of LISTENED.split(' ')) page.removeAllListeners(event)
  for (const other of page.context().pages()) if (other !== page) await other.close()
  await page.goto('about:blank')
  await page.setViewportSize(CONTEXT.viewport)
  await page.emulateMedia({ colorScheme: null })
  await page.context().clearPermissions()
}

/** Renews a page. Returns whether the next test can have it: not if the page crashed, was closed, or no longer responds. */
async function tryRenew(page: Page): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const isLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), TIMEOUT_MS)
  })
  const isRenewed = renew(page).then(
    () => true,
    () => false,
  )
  const isUsable = await Promise.race([isRenewed, isLate])
  clearTimeout(timer)
  // Playwright has no time limit for a close, and a page that does not respond may not close.
  const context = page.context()
  if (!isUsable) context.close().catch(() => {})
  return isUsable
}

/** A page of a browser, until the end of a test. The tests after it get it again, also those of other files. */
async function takePage(
  t: Test,
  browser: Browser,
  isOwn: boolean,
  isPhone: boolean,
): Promise<Page> {
  const free = freePages.get(browser) ?? []
  freePages.set(browser, free)
  const page = (isOwn ? undefined : free.pop()) ?? (await newPage(browser, isPhone ? PHONE : {}))
  t.teardown(async () => {
    if (isOwn) return page.context().close()
    if (await tryRenew(page)) free.push(page)
  })
  return page
}

export type Opened = Awaited<ReturnType<typeof openConsole>>

/** Starts a sandbox that listens, and opens its console in a page. */
export async function openConsole(
  t: Test,
  browser: Browser,
  {
    view = 'overview',
    client,
    phone = false,
    ownPage = phone,
    wired = false,
    prepare,
    ...more
  }: StartOptions & {
    view?: string
    client?: string
    /** A page that no other test gets, for a test that changes its clock. */
    ownPage?: boolean
    /** A touch screen, 390 px wide. */
    phone?: boolean
    /** Opens the page by a proxy that the test controls. */
    wired?: boolean
    /** Changes the data before the page opens, so that the page gets no event for it. */
    prepare?: (world: World) => void
  } = {},
) {
  const sandbox = await start(t, more)
  // A browser opens connections in advance. One without a request keeps a server open for a minute.
  t.teardown(() => sandbox.app.server.closeAllConnections())
  prepare?.(sandbox.sandbox.default)
  await sandbox.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = sandbox.app.server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const wire = wired ? await createWire(t, port) : undefined
  const page = await takePage(t, browser, ownPage, phone)
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    const text = message.text()
    // Some tests expect rejected or interrupted calls. The page shows them itself.
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) errors.push(text)
  })
  const inFlight = new Set<Request>()
  page.on('request', (request) => {
    if (!request.url().endsWith('/events')) inFlight.add(request)
  })
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end as 'requestfinished', (request) => inFlight.delete(request))
  // A browser can stop making frames for a page that it thinks nobody sees.
  const nextFrame = () =>
    page.evaluate(
      'new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); setTimeout(done, 500) })',
    )
  const base = client === undefined ? '' : `/@${client}`
  await page.goto(`${wire?.origin ?? origin}${base}/__admin/#/${view}`)
  return {
    ...sandbox,
    origin,
    wire: wire!,
    context: page.context(),
    page,
    errors,
    /** Goes to another view of the same page. A click that comes before it has scrolled to its top would miss. */
    async go(to: string) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/${to}`)}`)
      await nextFrame()
    },
    see: (text: string | RegExp) =>
      page.getByText(text).filter({ visible: true }).first().waitFor(),
    /** Waits until an expression is true in the page. A text, because the policy of the page allows no functions of a test. */
    async until(expression: string) {
      const end = Date.now() + TIMEOUT_MS
      while (!(await page.evaluate(expression)))
        if (Date.now() > end) throw new Error(`This did not become true: ${expression}`)
    },
    /** Waits until the page has no pending request and has rendered. */
    async settle() {
      do await nextFrame()
      while (inFlight.size > 0)
    },
    /** Checks that the page reported no error and no policy violation. */
    assertNoErrors: (t: Test) => t.same(errors, [], 'the page reports no errors'),
  }
}
