// Writes docs/img: screenshots of the console with example data, and the loop of the README. Needs Chromium and a build.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startSandbox } from '../dist/index.js'

// Installs the driver of the browser.
await import('./slow.mjs')
const { chromium, findChromium } = await import('../test/slow/chromium.mjs')

const images = join(import.meta.dirname, '../docs/img')
mkdirSync(images, { recursive: true })
const executablePath = findChromium()

const sandbox = await startSandbox({ memory: true, clock: 'frozen', port: 0 })
const fetchJson = (url, body, method = 'POST') => {
  const headers = { 'content-type': 'application/json' }
  return fetch(url, { method, headers, body: JSON.stringify(body) })
}
const send = async (...call) => (await fetchJson(...call)).json()
const payment = {
  from_user_id: '00000000-0000-4000-8000-000000000001',
  to_user_id: '00000000-0000-4000-8000-000000000003',
  benif_bank_id: 'b0000000-0000-4000-8000-000000000003',
}
await send(`${sandbox.url}/clientWebhook`, {
  url: `${sandbox.adminUrl}/webhooks/inbox`,
  webhook_secret: 'whsec_c2NyZWVuc2hvdHMtb2YtdGhlLWNvbnNvbGU=',
})
// Two hours of a busy day, then a payment of the example program that is still on its way.
await send(`${sandbox.adminUrl}/scenario`, { name: 'live-demo' }, 'PUT')
await send(`${sandbox.adminUrl}/clock/advance`, { by: '111m' })
const { data } = await send(`${sandbox.url}/transaction`, {
  ...payment,
  amount: 75_000,
  reference_id: 'SAL-2026-01',
  remark: 'salary',
})
await send(`${sandbox.adminUrl}/clock/advance`, { by: '2s' })

const browser = await chromium.launch({
  executablePath,
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
})
async function open(view, { colorScheme, width, height }) {
  const viewport = { width, height }
  const context = await browser.newContext({ colorScheme, viewport, timezoneId: 'Asia/Kolkata' })
  const page = await context.newPage()
  await page.goto(`${sandbox.adminUrl}/#/${view}`)
  await page.getByText('live', { exact: true }).waitFor()
  await page.locator('main h2').first().waitFor()
  return page
}
for (const [name, view, colorScheme, width, height] of [
  ['console-overview', 'overview', 'light', 1240, 860],
  ['console-payment', `payments/${data[0].transaction_id}`, 'dark', 1240, 680],
  ['console-trouble', 'trouble', 'light', 1240, 860],
  ['console-phone', 'payments', 'light', 360, 640],
]) {
  const page = await open(view, { colorScheme, width, height })
  await page.screenshot({ path: join(images, `${name}.png`) })
  await page.context().close()
}

// ---- the loop: arm a 504, pay, get the 504, and see that it was paid

const SECONDS = 12
const [WIDTH, HEIGHT, BAR] = [960, 540, 48]
await send(`${sandbox.adminUrl}/reset`, {})
const page = await open('trouble', { colorScheme: 'light', width: WIDTH, height: HEIGHT })
const shot = async () => {
  const bytes = await page.screenshot({ type: 'jpeg', quality: 80 })
  const href = `data:image/jpeg;base64,${bytes.toString('base64')}`
  return `<image y="${BAR}" width="${WIDTH}" height="${HEIGHT}" href="${href}"/>`
}
const card = page.locator('.card', { hasText: '504 although paid' })
await card.getByRole('button', { name: 'Arm' }).click()
await page.getByText('Waits for your next').first().waitFor()
const armed = await shot()
const order = { ...payment, amount: 25_000, reference_id: 'INV-7' }
const told = await fetchJson(`${sandbox.url}/transaction`, order)
const terminal = [
  '$ cat payment.json',
  ...JSON.stringify(order, null, 2).split('\n'),
  '',
  '$ curl -i localhost:4310/v1/transaction --json @payment.json',
  `HTTP/1.1 ${told.status} ${told.statusText}`,
  ...(await told.text()).trim().split(/\r?\n/),
].map((line, i) => {
  const tone = line.startsWith('HTTP') ? ' class="bad"' : ''
  const safe = line.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="24" y="${BAR + 40 + i * 24}"${tone}>${safe}</text>`
})
const goTo = async (view) => {
  await page.goto(`${sandbox.adminUrl}/#/${view}`)
  // Without what the page said about the view before.
  await page.reload()
}
await goTo('requests')
await page.getByRole('row', { name: /504/ }).first().click()
await page.getByText('Your code was told 504').first().waitFor()
const call = await shot()
await send(`${sandbox.adminUrl}/clock/advance`, { by: '5s' })
const { transaction_id } = (await send(`${sandbox.url}/transaction`, undefined, 'GET')).data
  .transactions[0]
await goTo(`payments/${transaction_id}`)
await page.getByText('SUCCESS').first().waitFor()
const paid = await shot()
const frames = [
  ['Arm it: the next payment gets a 504, although it’s paid', armed],
  ['Your code pays ₹25,000 and gets a 504', terminal.join('\n')],
  ['The console says what your code can’t see', call],
  ['It was paid. Would your code pay twice?', paid],
].map(
  ([title, picture], i, { length }) =>
    `<g style="animation-delay:${(i * SECONDS) / length}s"><text x="24" y="31" class="title">${i + 1}  ${title}</text>${picture}</g>`,
)
writeFileSync(
  join(images, 'arm-504.svg'),
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT + BAR}" role="img" aria-label="Arm a 504, pay, get the 504: the console shows that the payment went through">
<style>g{opacity:0;animation:frame ${SECONDS}s infinite step-end}@keyframes frame{0%{opacity:1}25%,to{opacity:0}}
text{font:15px ui-monospace,Menlo,Consolas,monospace;white-space:pre;fill:#d0d7de}.title{font:600 17px system-ui,sans-serif;fill:#fff}.bad{fill:#ff7b72}
@media(prefers-reduced-motion:reduce){g{animation:none}g:last-child{opacity:1}}</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${frames.join('\n')}
</svg>
`,
)
await browser.close()
await sandbox.close()
