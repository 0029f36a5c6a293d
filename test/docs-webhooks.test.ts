import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../src/config/package.ts'
import { SEND_ERRORS } from '../src/model/delivery.ts'
import { type SignFault, signWebhook } from '../src/webhooks/signatures.ts'
import { hold } from './held-page.ts'
import { start } from './helper.ts'
import { exampleHandler, SECRET } from './receiver.ts'

const read = (path: string) => readFileSync(join(PACKAGE_ROOT, path), 'utf8')
const GUIDE = read('docs/webhooks.md')

const ID = 'evt_0123456789abcdef0123456789abcdef'
const NOW = Math.floor(Date.now() / 1000)
const BODY = JSON.stringify({ id: ID, type: 'webhook.test', note: '₹' })
const SECRETS = [
  'whsec_c2FuZGJveC1leGFtcGxlLXNlY3JldA==',
  'c2FuZGJveC1leGFtcGxlLXNlY3JldA==',
  'my-webhook-secret',
  'topsecret123',
  'पैसा',
  'x',
]

type Verify = (
  headers: Record<string, string>,
  body: string | Buffer,
  secret: string,
  now?: number,
) => void

/** The Node code as a reader would paste it. */
async function guideCode(): Promise<Verify> {
  const code =
    /<!-- test\/docs-webhooks\.test\.ts runs this block -->\n```js\n([\s\S]*?)\n```/.exec(
      GUIDE,
    )?.[1]
  if (!code) throw new Error('docs/webhooks.md has no Node code to run')
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)).verifyWebhook
}

t.test('the guide’s Node code verifies what the sandbox signs', async (t) => {
  const verify = await guideCode()
  for (const secret of SECRETS) {
    const headers = signWebhook({ id: ID, timestamp: NOW, body: BODY, secret })
    t.doesNotThrow(() => verify(headers, BODY, secret), secret)
    t.doesNotThrow(() => verify(headers, Buffer.from(BODY), secret), `${secret}, bytes`)
    t.throws(() => verify(headers, BODY.replace('₹', '$'), secret), /does not fit/)
    t.throws(() => verify(headers, BODY, `other-${secret}`), /does not fit/)
    t.throws(() => verify(headers, BODY, secret, NOW + 301), /too old/)
    t.throws(
      () => verify({ ...headers, 'webhook-signature': 'v1,AAAA v1,' }, BODY, secret),
      /does not fit/,
    )
    const faults: [SignFault, RegExp][] = [
      [{ signature: 'wrong' }, /does not fit/],
      [{ signature: 'missing' }, /missing/],
      [{ timestamp: 'stale' }, /too old/],
    ]
    for (const [fault, why] of faults)
      t.throws(
        () =>
          verify(signWebhook({ id: ID, timestamp: NOW, body: BODY, secret }, fault), BODY, secret),
        why,
      )
  }
})

/** The list after a text of the guide: what stands before the colon -> after it. */
function listAfter(text: string): Record<string, string> {
  const [, list = ''] = GUIDE.slice(GUIDE.indexOf(text)).split('\n\n')
  return Object.fromEntries(
    [...list.matchAll(/^- (.+?): (.+)$/gm)].map(([, name, value]) => [name, value]),
  )
}

const unquote = (cell: string | undefined) => cell?.replace(/^`|`$/g, '') ?? ''

t.test('the guide’s example values fit together', async (t) => {
  const values = listAfter('Test vector for your own code')
  const example = {
    id: unquote(values['`webhook-id`']),
    timestamp: Number(unquote(values['`webhook-timestamp`'])),
    body: unquote(values['body (UTF-8)']),
    secret: unquote(values['secret']),
  }
  t.equal(signWebhook(example)['webhook-signature'], unquote(values['`webhook-signature`']))
  const verify = await guideCode()
  t.doesNotThrow(() =>
    verify(signWebhook(example), example.body, example.secret, example.timestamp),
  )
})

t.test('the guide lists every word for a failed attempt, and no other', async (t) => {
  const rows = Object.entries(SEND_ERRORS).map(([word, meaning]) => `- \`${word}\`: ${meaning}\n`)
  hold(t, 'docs/webhooks.md', 'codes', rows.join(''))
})

/** The status that a handler has for a payment after these events. */
async function statusAfter(url: string, statuses: readonly string[]): Promise<string> {
  const payment = statuses.join()
  for (const status of statuses) {
    const updated_at = ['pending', 'processing', 'success', 'failed'].indexOf(status)
    const data = { transaction_id: payment, updated_at }
    const event = { type: `transaction.${status}`, data }
    const headers = { 'content-type': 'application/json', 'webhook-id': `evt_${payment}_${status}` }
    const body = JSON.stringify(event)
    t.equal((await fetch(`${url}/webhook`, { method: 'POST', headers, body })).status, 204)
  }
  return JSON.parse(await (await fetch(`${url}/state/${payment}`)).text()).status
}

t.test('the README of the example handlers shows the bug of one', async (t) => {
  const readme = read('examples/webhook-handler/README.md')
  const definition = JSON.parse(/-d '(\{"definition.*)'/.exec(readme)![1]!)
  for (const [file, status] of [
    ['handler-with-bug.mjs', 'processing'],
    ['handler.mjs', 'success'],
  ] as const) {
    const base = await exampleHandler(t, file)
    const box = await start(t)
    await box.post('/v1/clientWebhook', { url: `${base}/webhook`, webhook_secret: SECRET })
    t.equal((await box.put('/__admin/scenario', definition)).status, 200)
    const { transaction_id } = (await box.pay()).body.data[0]
    await box.advance('3s')
    t.strictSame(await (await fetch(`${base}/state/${transaction_id}`)).json(), { status })
  }
  t.match(readme, 'Instead of `success`, the wrong handler says `processing`.')
})

t.test('one example handler believes the last event, and one never goes back', async (t) => {
  const wrong = await exampleHandler(t, 'handler-with-bug.mjs')
  const right = await exampleHandler(t, 'handler.mjs')
  for (const [statuses, believed] of [
    ['pending processing success', 'success'],
    ['pending success processing', 'processing'],
    ['processing success pending', 'pending'],
    ['pending success success processing', 'processing'],
  ] as const) {
    t.equal(await statusAfter(wrong, statuses.split(' ')), believed)
    t.equal(await statusAfter(right, statuses.split(' ')), 'success')
  }
  const reversed = ['pending', 'failed', 'processing', 'success']
  t.equal(await statusAfter(right, reversed), 'failed', 'a reversal before what it reverses')
})
