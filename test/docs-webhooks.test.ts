import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { PACKAGE_ROOT } from '../src/config/package.ts'
import { SEND_ERRORS } from '../src/model/delivery.ts'
import { arrivalOrders } from '../src/webhooks/arrival-orders.ts'
import { type SignFault, signWebhook } from '../src/webhooks/sign.ts'
import { hold } from './held-page.ts'

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

t.test(
  'the guide’s Node code verifies what the standardwebhooks package signs, in both modes',
  async (t) => {
    const verify = await guideCode()
    const signedBy = (webhook: Webhook) => ({
      'webhook-id': ID,
      'webhook-timestamp': String(NOW),
      'webhook-signature': webhook.sign(ID, new Date(NOW * 1000), BODY),
    })
    const [whsec] = SECRETS as [string]
    t.doesNotThrow(() => verify(signedBy(new Webhook(whsec)), BODY, whsec), 'default mode')
    for (const secret of SECRETS) {
      const raw = new Webhook(new TextEncoder().encode(secret), { format: 'raw' })
      t.doesNotThrow(() => verify(signedBy(raw), BODY, secret), `raw mode: ${secret}`)
    }
  },
)

t.test('the package verifies what the sandbox signs, as the guide says', async (t) => {
  for (const secret of SECRETS) {
    const headers = signWebhook({ id: ID, timestamp: NOW, body: BODY, secret })
    const raw = new Webhook(new TextEncoder().encode(secret), { format: 'raw' })
    t.same(raw.verify(BODY, headers), JSON.parse(BODY), `raw mode: ${secret}`)
  }
  for (const secret of SECRETS.slice(0, 2)) {
    const headers = signWebhook({ id: ID, timestamp: NOW, body: BODY, secret })
    t.same(new Webhook(secret).verify(BODY, headers), JSON.parse(BODY), `default mode: ${secret}`)
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

/** Starts an example handler on a free port; it ends with the test. */
async function startHandler(t: Test, file: string): Promise<string> {
  const path = join(PACKAGE_ROOT, 'examples/webhook-handler', file)
  const child = spawn(process.execPath, [path], {
    env: { PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill())
  for await (const chunk of child.stdout) {
    const url = /ready on (http:\S+)/.exec(String(chunk))?.[1]
    if (url) return url
  }
  throw new Error(`${file} did not start`)
}

/** The shortest order after which a handler's state differs from the one the right order leaves. */
async function firstBreakingOrder(url: string, statuses: string[], maxOrders: number) {
  let run = 0
  const stateAfter = async (sequence: string[]) => {
    // A payment and events of its own for each order, so that nothing is left over from the one before.
    const payment = `payment-${++run}`
    for (const status of sequence) {
      const event = { type: `transaction.${status}`, data: { transaction_id: payment } }
      const headers = { 'content-type': 'application/json', 'webhook-id': `evt_${run}_${status}` }
      const { status: answer } = await fetch(`${url}/webhook`, {
        method: 'POST',
        headers,
        body: JSON.stringify(event),
      })
      if (answer !== 204) throw new Error(`answered ${answer}`)
    }
    return (await fetch(`${url}/state/${payment}`)).text()
  }
  let draws = 0
  const random = () => (draws++ * 0.618) % 1
  const right = await stateAfter(statuses)
  for (const { sequence } of arrivalOrders({ events: statuses, random, max_orders: maxOrders }))
    if ((await stateAfter(sequence)) !== right) return sequence
  return undefined
}

t.test('exploring finds the bug of the one example handler, and none in the other', async (t) => {
  const statuses = ['pending', 'processing', 'success']
  const wrong = await startHandler(t, 'handler-with-bug.mjs')
  t.same(await firstBreakingOrder(wrong, statuses, 100), ['pending', 'success', 'processing'])
  const right = await startHandler(t, 'handler.mjs')
  t.equal(await firstBreakingOrder(right, statuses, 100), undefined)
  t.equal(
    await firstBreakingOrder(right, [...statuses, 'failed'], 100),
    undefined,
    'nor with a late reversal',
  )
})
