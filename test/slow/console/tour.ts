import { ROHAN } from '../../helper.ts'
import type { Opened } from './browser.ts'

const VIEWS = [
  'overview',
  'users',
  `users/${ROHAN}`,
  'payments',
  'deliveries',
  'requests',
  'scenarios',
  'scenarios/default',
  'assumptions',
  'sweep',
  'inbox',
  'statement?date=2026-01-01',
  'more',
  'trouble',
  'search?search=transaction',
  'control',
]

/** Creates data for every view. Returns the views, with those of the new records. */
export async function fill({ post, pay, get, origin, advance }: Opened, words: object = {}) {
  const webhook = {
    url: `${origin}/__admin/webhooks/inbox`,
    webhook_secret: 'a-secret-of-the-test',
  }
  await post('/v1/clientWebhook', webhook)
  await pay(words)
  const id = (await pay({ amount: 100.93, ...words })).body.data[0].transaction_id
  await advance('4s')
  const { deliveries } = (await get('/__admin/webhooks/deliveries')).body
  const { requests } = (await get('/__admin/requests')).body
  return [
    ...VIEWS,
    `payments/${id}`,
    `deliveries/${deliveries[0].delivery_id}`,
    `requests/${requests[0].request_id}`,
  ]
}

/** Goes to a view and waits until its data is loaded. */
export async function show({ page, settle }: Opened, view: string) {
  // By way of another view, whose heading differs.
  await page.evaluate(`(async () => {
    location.hash = '#/nowhere'
    const shows = (text) => document.querySelector('main')?.textContent.includes(text)
    while (!shows('There is no such view')) await new Promise(requestAnimationFrame)
    location.hash = ${JSON.stringify(`#/${view}`)}
    while (shows('There is no such view') || !document.querySelector('main h2'))
      await new Promise(requestAnimationFrame)
  })()`)
  await settle()
}
