import type { Test } from 'tap'
import t from 'tap'
import { ASHA, ROHAN, ROHANS_ACCOUNT } from '../helper.ts'
import { receiver, SECRET, status } from '../receiver.ts'
import { call, run, serve } from './program.ts'

/** A sandbox whose clock stands, with a webhook, and its commands. */
async function withWebhook(t: Test, hook: string) {
  const { url, adminUrl } = await serve(t, ['--memory', '--clock', 'frozen'])
  await call(`${url}/clientWebhook`, { url: hook, webhook_secret: SECRET })
  return { url, adminUrl, at: (...words: string[]) => run([...words, '--url', url]) }
}

/** A payment that is through. */
async function pay({ url, at }: Awaited<ReturnType<typeof withWebhook>>): Promise<string> {
  const { body } = await call(`${url}/transaction`, {
    from_user_id: ASHA,
    to_user_id: ROHAN,
    benif_bank_id: ROHANS_ACCOUNT,
    amount: 5,
  })
  await at('clock', 'advance', '10s')
  return body.data[0].transaction_id
}

t.test('trigger sends an event about the newest resource or a named one', async (t) => {
  const hook = await receiver(t)
  const { at } = await withWebhook(t, hook.url)
  t.strictSame(await at('trigger', 'user.created', '--resource', ASHA), {
    code: 0,
    stdout: `user.created for ${ASHA}: delivered (204)\n`,
    stderr: '',
  })
  const override = '{"email":"other@example.com"}'
  const json = await at('trigger', 'user.created', '--override', override, '--json')
  t.match(JSON.parse(json.stdout), { deliveries: [{ status: 'delivered' }] })
  const sent = hook.received.map(({ body }) => JSON.parse(body).data)
  t.match(sent, [{ user_id: ASHA }, { email: 'other@example.com' }])
  t.not(sent[1].user_id, ASHA)
  hook.respondWith(status(500))
  t.match(await at('trigger', 'user.created'), {
    code: 1,
    stdout: /user.created for .+: (pending|failed) \(.*500.*\)\n/,
  })
  t.match(await at('trigger', 'user.gone'), { code: 2, stdout: '', stderr: /event/ })
  t.match(await at('trigger', 'user.created', '--override', '[1]'), {
    code: 2,
    stderr: /--override takes a JSON object in quotes, not "\[1\]"/,
  })
  t.match(await at('trigger'), { code: 2, stderr: /trigger needs EVENT/ })
})

t.test('deliveries lists, narrows and sends again', async (t) => {
  const hook = await receiver(t)
  const box = await withWebhook(t, hook.url)
  const { at } = box
  t.equal((await at('deliveries')).stdout, 'no deliveries\n')
  const id = await pay(box)
  const { stdout } = await at('deliveries')
  t.match(stdout, /^created +delivery +event +resource +status +attempts +last response\n/)
  t.match(stdout, new RegExp(`transaction\\.success +${id} +delivered +1 +204\\n`))
  const listed = async (...flags: string[]) =>
    JSON.parse((await at('deliveries', '--json', ...flags)).stdout)
  t.equal((await listed()).total, 3)
  t.equal((await listed('--event', 'transaction.success')).total, 1)
  t.equal((await listed('--status', 'failed')).total, 0)
  t.equal((await listed('--resource', ROHAN)).total, 0)
  t.equal((await listed('--limit', '1')).deliveries.length, 1)
  t.match((await at('deliveries', '--limit', '1')).stdout, /\n… and 2 more; --limit shows more\n$/)
  const one = (await listed('--event', 'transaction.success')).deliveries[0].delivery_id
  t.match(await at('deliveries', '--redeliver', one), {
    code: 0,
    stdout: `transaction.success for ${id}: delivered (204)\n`,
  })
  t.equal(hook.received.length, 4)
  hook.respondWith(status(410))
  t.match(await at('deliveries', '--redeliver', one), {
    code: 1,
    stdout: /: delivered before, this redelivery failed \(.*410/,
  })
  t.match(await at('deliveries', '--redeliver', one, '--status', 'failed'), {
    code: 2,
    stderr: /--redeliver excludes --status/,
  })
  t.match(await at('deliveries', '--redeliver', 'nobody/else'), { code: 1, stderr: /nobody/ })
  t.match(await at('deliveries', '--status', 'lost'), { code: 2, stderr: /status/ })
})

t.test(
  '--webhook-retries and --webhook-time say when attempts are made and what they show',
  async (t) => {
    const hook = await receiver(t, status(500))
    const attempts = async (args: readonly string[]) => {
      hook.received.length = 0
      const { url, adminUrl } = await serve(t, ['--memory', '--clock', 'frozen', ...args])
      await call(`${url}/clientWebhook`, { url: hook.url, webhook_secret: SECRET })
      await call(`${adminUrl}/webhooks/trigger`, { event: 'webhook.test' })
      await call(`${adminUrl}/clock/advance`, { by: '2d' })
      return hook.received.map(({ headers }) => Number(headers['webhook-timestamp']))
    }
    const frozen = Date.UTC(2026, 0, 1) / 1_000
    const usual = await attempts([])
    t.equal(usual.length, 5)
    t.ok(
      usual.every((at) => Math.abs(at - Date.now() / 1_000) < 60),
      'the wall clock',
    )
    const other = await attempts(['--webhook-retries', 'standard', '--webhook-time', 'client'])
    t.equal(other.length, 10)
    t.equal(other[0], frozen)
    t.equal(other.at(-1), frozen + 24 * 3_600)
  },
)

t.test('--webhook-allow opens public hosts, and takes nothing but hosts', async (t) => {
  const url = 'http://192.0.2.1/x'
  const first = async (args: readonly string[], to = url) => {
    const program = await serve(t, ['--memory', ...args])
    await call(`${program.url}/clientWebhook`, { url: to, webhook_secret: SECRET })
    const done = call(`${program.adminUrl}/webhooks/trigger`, { event: 'webhook.test' })
    done.catch(() => {})
    for (;;) {
      const { body } = await call(`${program.adminUrl}/webhooks/deliveries`)
      // A refusal is there at once; a connection that was begun may last.
      if (body.total === 1) return body.deliveries[0].attempts[0]?.error.code
    }
  }
  t.equal(await first([]), 'address_not_allowed')
  t.equal(await first([], 'http://[::ffff:192.0.2.1]/x'), 'address_not_allowed', 'IPv4 in IPv6')
  t.equal(await first(['--webhook-allow', '192.0.2.2']), 'address_not_allowed')
  t.not(
    await first(['--webhook-allow', 'a.example', '--webhook-allow', '192.0.2.1']),
    'address_not_allowed',
  )
  for (const bad of ['http://a.example', 'a.example:80', 'a/b', 'me@a']) {
    const { code, stderr } = await run(['start', '--memory', '--port', '0', '--webhook-allow', bad])
    t.equal(code, 2, bad)
    t.match(stderr, /--webhook-allow takes a host name or an IP address/)
  }
})
