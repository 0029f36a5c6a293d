// Writes docs/img: screenshots of the console with example data. Needs Chromium and a build.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startSandbox } from '../dist/index.js'

// Installs the driver of the browser.
await import('./slow.mjs')
const { chromium, findChromium } = await import('../test/slow/chromium.mjs')

const images = join(import.meta.dirname, '../docs/img')
mkdirSync(images, { recursive: true })
const executablePath = findChromium()

const sandbox = await startSandbox({ memory: true, clock: 'frozen', port: 0 })
async function send(url, body, method = 'POST') {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) })
  return response.json()
}
await send(`${sandbox.url}/clientWebhook`, {
  url: `${sandbox.adminUrl}/webhooks/inbox`,
  webhook_secret: 'whsec_c2NyZWVuc2hvdHMtb2YtdGhlLWNvbnNvbGU=',
})
// Two hours of a busy day, then a payment of the example program that is still on its way.
await send(`${sandbox.adminUrl}/scenario`, { name: 'live-demo' }, 'PUT')
await send(`${sandbox.adminUrl}/clock/advance`, { by: '111m' })
const { data } = await send(`${sandbox.url}/transaction`, {
  from_user_id: '00000000-0000-4000-8000-000000000001',
  to_user_id: '00000000-0000-4000-8000-000000000003',
  benif_bank_id: 'b0000000-0000-4000-8000-000000000003',
  amount: 75_000,
  reference_id: 'SAL-2026-01',
  remark: 'salary',
})
await send(`${sandbox.adminUrl}/clock/advance`, { by: '2s' })

const browser = await chromium.launch({
  executablePath,
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
})
for (const [name, view, colorScheme, width, height] of [
  ['console-overview', 'overview', 'light', 1240, 860],
  ['console-payment', `payments/${data[0].transaction_id}`, 'dark', 1240, 680],
  ['console-trouble', 'trouble', 'light', 1240, 860],
  ['console-phone', 'payments', 'light', 360, 640],
]) {
  const viewport = { width, height }
  const context = await browser.newContext({ colorScheme, viewport, timezoneId: 'Asia/Kolkata' })
  const page = await context.newPage()
  await page.goto(`${sandbox.adminUrl}/#/${view}`)
  await page.getByText('live', { exact: true }).waitFor()
  await page.locator('main h2').first().waitFor()
  await page.screenshot({ path: join(images, `${name}.png`) })
  await context.close()
}
await browser.close()
await sandbox.close()
