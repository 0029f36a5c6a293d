import t from 'tap'
import { ADMIN_CALLS } from '../../src/routes/admin/admin-calls.ts'
import { start } from '../helper.ts'

t.test('every admin call rejects an unknown query parameter', async (t) => {
  const { call } = await start(t)
  for (const { method, url, ...rest } of ADMIN_CALLS) {
    const place = `/__admin${url.replace(/:\w+/g, 'x')}?limitt=1`
    const { status, body } = await call(method, place)
    if ('raw' in rest) t.equal(status, 200, 'who sends webhooks may have any query')
    else
      t.match(
        { ...body, status },
        { status: 400, error: 'validation_failed', errors: [{ field: 'limitt' }] },
        `${method} ${url}`,
      )
  }
})

t.test('the error names the parameter and the known ones', async (t) => {
  const { get, call } = await start(t)
  const messageOf = async (url: string) => (await get(url)).body.message
  t.equal(
    await messageOf('/__admin/webhooks/deliveries?statuz=failed'),
    'The query parameter statuz is unknown; did you mean "status"? This call takes page, limit, search, status, event, tried, resource_id, since and until.',
  )
  t.equal(
    await messageOf('/__admin/clock?x=1&y=2'),
    'The query parameter x is unknown; this call takes no query parameters (and 1 more error: see errors).',
  )
  t.equal((await get('/__admin/timers?limit=1')).status, 200)
  t.equal((await get('/__admin/clock?')).status, 200)
  // Nothing happens, and no client is created.
  await call('POST', '/@w1/__admin/clock/advance?dry_run=1', { by: '1h' })
  t.notOk((await get('/__admin/clients')).text.includes('w1'))
})
