import { join } from 'node:path'
import t from 'tap'
import { call, serve } from '../../cli/program.ts'
import { PAYMENT } from '../../helper.ts'
import { type Received, receiver, SECRET } from '../../receiver.ts'
import { figures, LONG, seeded } from './part.ts'

const PAYMENTS = LONG ? 3_334 : 40
const KILLS = LONG ? 25 : 2
const RATES = LONG ? [0.05, 0.2, 0.5] : [0.2]
const LIFE = ['transaction.pending', 'transaction.processing', 'transaction.success']

for (const failing of RATES) {
  const rate = `${failing * 100} %`
  t.test(
    `every event is delivered, in order and signed, by a sender killed again and again, where ${rate} fail`,
    async (t) => {
      const data = join(t.testdir(), 'db.json')
      const chance = seeded()
      const answered = new Map<string, number>()
      let wake = () => {}
      const hook = await receiver(t, (message, response) => {
        // The tenth attempt is the last: none is given up by bad luck.
        const kind = message.attempt >= 9 ? 1 : chance()
        if (kind >= failing) {
          answered.set(message.id, (answered.get(message.id) ?? 0) + 1)
          response.writeHead(200).end()
        } else if (kind < failing / 4) response.writeHead(500).end()
        else if (kind < failing / 2) response.socket!.resetAndDestroy()
        else if (kind < (failing * 3) / 4) response.writeHead(429, { 'retry-after': '1' }).end()
        else {
          // The work is done and the answer lost: it comes again.
          answered.set(message.id, (answered.get(message.id) ?? 0) + 1)
          response.socket!.destroy()
        }
        wake()
      })
      /** Waits until this number of messages has arrived. */
      const until = (count: number) =>
        new Promise<void>((resolve) => {
          wake = () => {
            if (hook.received.length < count) return
            wake = () => {}
            resolve()
          }
          wake()
        })
      const args = ['--data', data, '--log-level', 'error', '--clock-speed', '100']
      const open = () => serve(t, [...args, '--webhook-retries', 'standard'])

      let program = await open()
      await call(`${program.url}/clientWebhook`, { url: hook.url, webhook_secret: SECRET })
      const payments: string[] = []
      const share = Math.ceil(PAYMENTS / KILLS)
      for (let kill = 1; kill <= KILLS; kill++) {
        const before = hook.received.length
        while (payments.length < Math.min(kill * share, PAYMENTS)) {
          const { body } = await call(`${program.url}/transaction`, {
            ...PAYMENT,
            amount: payments.length + 1,
          })
          payments.push(body.data[0].transaction_id)
        }
        // Some of what this round is about to send has come, the rest is still on its way.
        await until(before + share)
        await program.stop('SIGKILL')
        program = await open()
      }
      const { adminUrl } = program
      await call(`${adminUrl}/clock/advance`, { by: '3d' })

      const lost: string[] = []
      for (const id of payments) {
        const first = new Map<string, Received>()
        for (const one of hook.received)
          if (one.resource === id && !first.has(one.id)) first.set(one.id, one)
        const types = [...first.values()].map(({ type }) => type)
        if (String(types) !== String(LIFE)) lost.push(`${id}: ${types}`)
      }
      t.same(lost, [], 'first deliveries come in order for each payment')
      const ids = new Set(hook.received.map(({ id }) => id))
      t.equal(ids.size, PAYMENTS * LIFE.length)
      t.same(
        [...ids].filter((id) => !answered.has(id)),
        [],
        'every event was taken at least once',
      )
      t.ok(
        hook.received.every(({ verdict }) => verdict.ok),
        'every signature is valid',
      )
      const bodies = new Set(hook.received.map(({ id, body }) => id + body))
      t.equal(bodies.size, ids.size, 'the bytes of an event never change')
      const { body } = await call(`${adminUrl}/webhooks/deliveries?status=pending`)
      t.equal(body.total, 0)
      const again = hook.received.length - ids.size
      t.ok(again > 0, `${again} came again`)
      figures({ [`events where ${rate} fail`]: ids.size, [`sent again where ${rate} fail`]: again })
    },
  )
}
figures({ 'kills of each side': KILLS })
