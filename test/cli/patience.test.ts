import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { createCaller, noResponseText } from '../../src/admin/caller.ts'
import { portOf } from '../listening.ts'

/** A sandbox that is at work on an advance, and says where its clock stands, or says nothing. */
async function slow(t: Test, isAlive: boolean) {
  let finish = () => {}
  const server = createServer((request, response) => {
    const send = (body: object) => response.end(JSON.stringify(body))
    if (request.method === 'POST') finish = () => send({ now: 'the end', fired: [] })
    else if (isAlive) send({ now: '2026-01-09T00:00:00.000Z' })
  })
  const base = new URL(`http://127.0.0.1:${await portOf(t, server)}`)
  return { base, finish: () => finish() }
}

const errorOf = ({ url, cause }: { url: string; cause?: unknown }) =>
  new Error(noResponseText(url, cause))

t.test('a call goes on as long as the sandbox responds to others, and says so', async (t) => {
  const { base, finish } = await slow(t, true)
  const seen: string[] = []
  const target = {
    base,
    timeoutMs: 60,
    lateMs: 20,
    onLate(now: string) {
      // After several times the patience.
      if (seen.push(now) === 12) finish()
    },
  }
  const done = await createCaller(target, errorOf)('advanceClock', { body: { by: '30d' } })
  t.strictSame(done, { now: 'the end', fired: [] })
  t.strictSame(new Set(seen), new Set(['2026-01-09T00:00:00.000Z']))
})

t.test('a sandbox that responds to nothing ends a call', async (t) => {
  const { base } = await slow(t, false)
  const target = { base, timeoutMs: 60, lateMs: 20, onLate: () => {} }
  const call = createCaller(target, errorOf)('advanceClock', { body: { by: '30d' } })
  await t.rejects(call, /No sandbox responds at .* \(no response\)/)
})
