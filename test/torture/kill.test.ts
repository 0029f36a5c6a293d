import { join } from 'node:path'
import t from 'tap'
import { call, serve } from '../cli/program.ts'
import { ASHA, ROHAN, ROHANS_ACCOUNT } from '../helper.ts'

const ROUNDS = 6
const CLIENTS = 8
const KILL_AFTER_ANSWERS = 150

t.test('kill -9 while 8 clients write loses nothing that was acknowledged', async (t) => {
  const data = join(t.testdir(), 'db.json')
  const users = new Map<string, string>()
  const payments = new Set<string>()
  let serial = 0

  for (let round = 0; round < ROUNDS; round++) {
    const { url, child, stop } = await serve(t, ['--data', data, '--log-level', 'error'])
    let answers = 0
    const write = async () => {
      for (;;) {
        const n = ++serial
        const email = `u${n}@example.com`
        try {
          if (n % 3 === 0) {
            const { status, body } = await call(`${url}/transaction`, {
              from_user_id: ASHA,
              to_user_id: ROHAN,
              benif_bank_id: ROHANS_ACCOUNT,
              amount: n,
            })
            if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
            payments.add(body.data[0].transaction_id)
          } else {
            const { status, body } = await call(`${url}/user`, {
              email,
              mobile: `+9160000${String(n).padStart(5, '0')}`,
            })
            if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
            users.set(body.data.user_id, email)
          }
        } catch (error) {
          if (child.killed) return
          throw error
        }
        if (++answers === KILL_AFTER_ANSWERS) child.kill('SIGKILL')
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, write))
    await stop('SIGKILL')
  }

  const { url, adminUrl } = await serve(t, ['--data', data])
  const lost: string[] = []
  for (const [id, email] of users) {
    const { body } = await call(`${url}/user/${id}`)
    if (body.data?.email !== email) lost.push(id)
  }
  await call(`${adminUrl}/clock/advance`, { by: '10s' })
  for (const id of payments) {
    const { body } = await call(`${url}/transaction/${id}`)
    if (body.data?.[0]?.transaction_status !== 'success') lost.push(id)
  }
  t.same(lost, [], `${users.size} users are all there, ${payments.size} payments have all settled`)
  t.ok(users.size >= ROUNDS * 50 && payments.size >= ROUNDS * 20)
})
