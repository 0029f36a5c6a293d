import t from 'tap'
import { receiver, SECRET, status } from '../receiver.ts'
import { call, serve } from './program.ts'

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
    const hours = [0, 5 / 3600, 5 / 60, 0.5, 2, 5, 10, 14, 20, 24]
    t.same(
      other,
      hours.map((h) => Math.round(frozen + h * 3_600)),
    )
  },
)

t.test('--webhook-allow opens public hosts', async (t) => {
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
})
