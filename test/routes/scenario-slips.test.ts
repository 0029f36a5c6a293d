import t from 'tap'
import { start } from '../helper.ts'

const SCENARIO = '/__admin/scenario'
const TIMELINE_AT = '2026-01-01T10:00:00Z'

t.test('a short form that is none is answered with the form', async (t) => {
  const box = await start(t)
  for (const [then, message, when = { operation: '*' }] of [
    [{ kyc: 'failed' }, 'a list of steps, such as [{ status: failed }], not "failed"'],
    [{ bank: true }, 'a list of steps, such as [{ status: failed }], not true'],
    [{ transaction: 'pending' }, 'a list of steps, such as [{ status: PENDING }], not "pending"'],
    [{ kyc: ['failed'] }, 'a mapping such as { status: failed }, not the text "failed"'],
    [{ respond: 503 }, 'a mapping such as respond: { status: 503 }, not the number 503'],
    [{ sequence: ['hang'] }, 'pass or a mapping such as { fault: hang }, not "hang"'],
    ['hang', 'a mapping such as then: { fault: hang }, not the text "hang"'],
    [{}, 'a mapping such as when: { operation: createTransaction }, not the text', 'getUser'],
  ] as const) {
    const definition = { rules: [{ when, then }] }
    const refused = { status: 400, body: { message: new RegExp(message.replace(/[[{]/g, '\\$&')) } }
    t.match(await box.post('/__admin/rules', definition.rules[0]), refused)
    t.match(await box.put(SCENARIO, { definition }), refused)
  }
})

t.test('an entry of a timeline comes at an instant', async (t) => {
  const at = (entry: object) => ({ definition: { title: 'x', timeline: [entry] } })
  const firesAt = async (entry: object) => {
    const box = await start(t)
    await box.put(SCENARIO, at(entry))
    return (await box.advance('1d')).body.fired.map((one: { at: string }) => one.at)
  }
  const rule = { rule: { when: { operation: 'getUser' }, then: { delay: '1s' } } }
  t.strictSame(await firesAt({ at: TIMELINE_AT, do: rule }), ['2026-01-01T10:00:00.000Z'])
  t.strictSame(await firesAt({ at: '2026-01-01T10:00:00+05:30', do: rule }), [
    '2026-01-01T04:30:00.000Z',
  ])
  t.strictSame(await firesAt({ at: '2026-01-01T23:00:00Z', every: '30m', times: 3, do: rule }), [
    ...['2026-01-01T23:00:00.000Z', '2026-01-01T23:30:00.000Z', '2026-01-02T00:00:00.000Z'],
  ])
  const box = await start(t)
  await box.put(SCENARIO, at({ at: '2020-01-01T00:00:00Z', do: rule }))
  t.equal((await box.get('/__admin/rules')).body.rules.length, 1, 'one that has passed is at once')
  for (const [entry, message] of [
    [{ at: TIMELINE_AT, after: '1s', do: rule }, /`at` and `after` both say when; remove one/],
    [{ at: TIMELINE_AT, do: { reset: true } }, /after a reset, an instant that has passed would/],
    [
      { at: '10:00', do: rule },
      /^(?!.*must.*must).*must be an instant such as "2026-01-01T10:00:00Z"/,
    ],
    [{ at: '1950-01-01T00:00:00Z', do: rule }, /from 1970 to 9999, not "1950/],
    [{ at: TIMELINE_AT, do: { use: 'inline' } }, /./],
  ] as const)
    t.match(await box.put(SCENARIO, at(entry)), { status: 400, body: { message } })
})

t.test('what looks like a mistake is warned of', async (t) => {
  const box = await start(t)
  const rule = (operation: string, when: object) => ({
    rules: [{ when: { operation, ...when }, then: { respond: { status: 500 } } }],
  })
  const mistake = ', so this matches only a call with a mistake'
  for (const [definition, warning] of [
    [
      rule('submitKyc', { item: { dateOfBirth: '2001-01-01' } }),
      `must be a real date as DD-MM-YYYY; found "2001-01-01"${mistake}`,
    ],
    [rule('submitKyc', { item: { dateOfBirth: { eq: '31-02-2001' } } }), mistake],
    [
      rule('submitKyc', { item: { dateOfBirth: { starts_with: '2001' } } }),
      `is DD-MM-YYYY${mistake}`,
    ],
    [
      rule('submitKyc', { item: { dateOfBirth: { matches: '^2001-' } } }),
      `is DD-MM-YYYY${mistake}`,
    ],
    [rule('submitKyc', { item: { document_type: 'passport' } }), mistake],
    [rule('createUser', { body: { email: 'a' } }), `\`email\` must be`],
    [rule('createUser', { body: { mobile: '12' } }), mistake],
    [
      rule('createTransaction', { body: { from_user_id: 'x' } }),
      `must be a UUID; found "x"${mistake}`,
    ],
    [
      { timeline: [{ every: '5s', do: { create_users: 1 } }] },
      'without `times` it repeats forever: 17,280 times for each day',
    ],
    [rule('submitKyc', { item: { dateOfBirth: '01-01-2001' } }), undefined],
    [rule('createUser', { body: { email: 'a@example.com', mobile: '9876500001' } }), undefined],
    [rule('createTransaction', { body: { amount: 100, reference_id: null } }), undefined],
    [{ timeline: [{ every: '3m', do: { create_users: 1 } }] }, 'repeats forever: 480 times'],
    [{ timeline: [{ every: '3m', do: { call: 'createUser' } }] }, undefined],
    [{ timeline: [{ every: '2m', do: { call: 'createUser' } }] }, 'repeats forever: 720 times'],
    [{ timeline: [{ every: '5s', times: 2, do: { create_users: 1 } }] }, undefined],
  ] as const) {
    const { status, body } = await box.put(SCENARIO, { definition })
    t.equal(status, 200)
    if (warning === undefined) t.notOk(body.warnings, JSON.stringify(definition))
    else t.ok(body.warnings?.join().includes(warning), `${warning}: ${body.warnings}`)
  }
})
