import t from 'tap'
import { problemText } from '../../src/model/errors.ts'
import { createRandom } from '../../src/runtime/random.ts'
import type { CompiledScenario } from '../../src/scenarios/compiled.ts'
import { type Counter, createDecider } from '../../src/scenarios/decide.ts'
import { magicValuesOf } from '../../src/scenarios/magic-values.ts'
import type { RuleCall } from '../../src/scenarios/match.ts'
import { readDefinition } from '../../src/scenarios/read.ts'

function compiled(definition: unknown, name = 'test'): CompiledScenario {
  const result = readDefinition(definition, { name, file: name })
  if (!result.ok) throw new Error(result.problems.map(problemText).join('\n'))
  return result.scenario
}

const rulesOf = (rules: unknown[], name?: string) => compiled({ rules }, name)

function decider(
  layers: CompiledScenario[],
  { seed = 1, counters = new Map<string, Counter>() } = {},
) {
  const random = createRandom(seed)
  return {
    ...createDecider({
      layers,
      counters: {
        get: (key) => counters.get(key),
        set: (key, value) => void counters.set(key, value),
      },
      chance: random.at,
      now: () => 0,
      since: () => 0,
    }),
    counters,
  }
}

const get: RuleCall = { operation: 'getUser', params: { userId: 'u1' } }
const pay = (body: object = {}, more: object = {}): RuleCall => ({
  operation: 'createTransaction',
  body,
  ...more,
})
const kyc = (item?: object, body: object = { user_id: 'u1' }): RuleCall => ({
  operation: 'submitKyc',
  body,
  ...(item && { item }),
})
const delay = (text: string) => ({ then: { delay: text } })
const delayMs = (decision: { outcome: { delay?: { minMs: number } } } | undefined) =>
  decision?.outcome.delay?.minMs

t.test('the first rule that matches decides, and is named', async (t) => {
  const { decide } = decider([
    rulesOf([
      { name: 'others', when: { operation: 'listUsers' }, ...delay('1s') },
      { name: 'first', when: { operation: 'getUser' }, ...delay('2s') },
      { when: { operation: 'getUser', params: { userId: 'u2' } }, ...delay('3s') },
    ]),
  ])
  t.strictSame(decide(get), {
    scenario: 'test',
    rule: 'first',
    hit: 1,
    outcome: { delay: { minMs: 2_000, maxMs: 2_000 } },
  })
  t.equal(decide(get)?.hit, 2)
  t.equal(decide({ operation: 'getKyc' }), undefined)
})

t.test('layers are asked in order, and what one leaves open the next decides', async (t) => {
  const upper = rulesOf([{ when: { operation: 'getUser' }, times: 1, ...delay('1s') }], 'upper')
  const lower = rulesOf([{ when: { operation: '*' }, ...delay('2s') }], 'lower')
  const { decide } = decider([upper, lower])
  t.strictSame(
    [decide(get)?.scenario, decide(get)?.scenario, decide(pay())?.scenario],
    ['upper', 'lower', 'lower'],
  )
})

t.test('the response of a call and the lifecycle of a payment are two decisions', async (t) => {
  const stuck = [{ status: 'PENDING', after_ms: 0 }]
  const late = { name: 'late', when: { operation: '*' }, ...delay('1s') }
  const life = {
    name: 'life',
    when: { operation: 'createTransaction' },
    then: { transaction: [{ status: 'PENDING' }] },
  }
  const outcome = { delay: { minMs: 1_000, maxMs: 1_000 }, transaction: stuck }
  for (const rules of [
    [late, life],
    [life, late],
  ]) {
    t.match(decider([rulesOf(rules)]).decide(pay()), {
      rule: 'life',
      hit: 1,
      outcome,
      also: { rule: 'late', hit: 1 },
    })
  }
  const both = {
    name: 'both',
    when: { operation: 'createTransaction' },
    then: { ...late.then, ...life.then },
  }
  const one = decider([rulesOf([both])])
  t.strictSame(one.decide(pay()), { scenario: 'test', rule: 'both', hit: 1, outcome })
  t.equal(one.decide(pay())?.hit, 2, 'one call spends it once')
})

t.test('a call whose operation does not run counts no lifecycle rule', async (t) => {
  const life = {
    when: { operation: 'createTransaction' },
    times: 1,
    then: { transaction: [{ status: 'PENDING' }] },
  }
  for (const stop of [{ respond: { status: 503 } }, { fault: 'reset' }]) {
    const { decide } = decider([
      rulesOf([life, { when: { operation: '*' }, times: 1, then: stop }]),
    ])
    t.strictSame(Object.keys(decide(pay())!.outcome)[0], Object.keys(stop)[0])
    t.ok(decide(pay())?.outcome.transaction)
  }
  const { decide } = decider([
    rulesOf([life, { when: { operation: '*' }, then: { fault: 'reset', at: 'after' } }]),
  ])
  t.match(decide(pay())?.outcome, {
    fault: 'reset',
    at: 'after',
    transaction: [{ status: 'PENDING' }],
  })
})

t.test('times ends a rule, and the next one has its turn', async (t) => {
  const { decide } = decider([
    rulesOf([
      { when: { operation: 'getUser' }, times: 2, ...delay('1s') },
      { when: { operation: 'getUser' }, ...delay('2s') },
    ]),
  ])
  t.strictSame(
    [1, 2, 3, 4].map(() => delayMs(decide(get))),
    [1_000, 1_000, 2_000, 2_000],
  )
})

t.test('skip lets the first matching calls go by', async (t) => {
  const { decide } = decider([
    rulesOf([{ when: { operation: 'getUser' }, skip: 2, times: 1, ...delay('1s') }]),
  ])
  t.strictSame(
    [1, 2, 3, 4].map(() => delayMs(decide(get))),
    [undefined, undefined, 1_000, undefined],
  )
})

t.test('a key counts for each of its values', async (t) => {
  const { decide, counters } = decider([
    rulesOf([
      {
        when: { operation: 'submitKyc', item: { document_type: 'tid' } },
        key: 'body.user_id',
        times: 1,
        then: { kyc: [{ status: 'failed' }] },
      },
    ]),
  ])
  const ask = (user_id?: string) =>
    decide(kyc({ document_type: 'tid' }, { user_id }))?.outcome.kyc?.[0]?.status
  t.strictSame(['u1', 'u1', 'u2', 'u2', undefined, undefined].map(ask), [
    'failed',
    undefined,
    'failed',
    undefined,
    'failed',
    undefined,
  ])
  t.notMatch([...counters.keys()].join(), /u1/, 'the value itself is not kept')
})

t.test('a sequence gives each hit its turn', async (t) => {
  const turns = [{ delay: '1s' }, 'pass', { delay: '3s' }]
  const played = (then_on?: string, inThen = false) => {
    const part = { sequence: turns, ...(then_on && { then_on }) }
    const rule = { when: { operation: 'getUser' }, ...(inThen ? { then: part } : part) }
    const { decide } = decider([
      rulesOf([rule, { when: { operation: 'getUser' }, ...delay('9s') }]),
    ])
    return Array.from({ length: 6 }, () => delayMs(decide(get))! / 1_000)
  }
  t.strictSame(played(), [1, 9, 3, 3, 3, 3])
  t.strictSame(played('last'), [1, 9, 3, 3, 3, 3])
  t.strictSame(played('loop'), [1, 9, 3, 1, 9, 3])
  t.strictSame(played('pass'), [1, 9, 3, 9, 9, 9])
  t.strictSame(played('loop', true), [1, 9, 3, 1, 9, 3])
})

t.test('times counts the turns that pass', async (t) => {
  const { decide } = decider([
    rulesOf([
      {
        when: { operation: 'getUser' },
        times: 2,
        sequence: ['pass', { delay: '1s' }],
        then_on: 'loop',
      },
    ]),
  ])
  t.strictSame(
    [1, 2, 3, 4].map(() => delayMs(decide(get))),
    [undefined, 1_000, undefined, undefined],
  )
})

const draws = (rules: unknown[], name: string, seed = 1) => {
  const { decide } = decider([rulesOf(rules)], { seed })
  return Array.from({ length: 200 }, () => (decide(get)?.rule === name ? 1 : 0))
}
const half = { name: 'half', when: { operation: 'getUser' }, chance: 0.5, then: { delay: '1s' } }

t.test(
  'chance acts on about that part of the calls, the same each time for one seed',
  async (t) => {
    const first = draws([half], 'half')
    t.strictSame(draws([half], 'half'), first)
    t.notSame(draws([half], 'half', 2), first)
    const hits = first.filter(Boolean).length
    t.ok(hits > 70 && hits < 130, `${hits} of 200`)
  },
)

t.test('a rule added before, behind or of the same kind moves no other rule’s draws', async (t) => {
  const first = draws([half], 'half')
  const other = {
    name: 'other',
    when: { operation: 'getUser' },
    chance: 0.5,
    then: { delay: '2s' },
  }
  t.strictSame(draws([half, other], 'half'), first)
  const life = {
    name: 'payments',
    when: { operation: 'createTransaction' },
    chance: 0.5,
    then: { delay: '2s' },
  }
  t.strictSame(draws([life, half], 'half'), first)
  const nameless = { when: { operation: 'getUser' }, chance: 0.5, then: { delay: '1s' } }
  const alone = draws([nameless], 'rule 1')
  t.strictSame(
    draws([life, nameless], 'rule 2'),
    alone,
    'a rule without a name is known by its text',
  )
})

t.test('values of a key draw by themselves', async (t) => {
  const { decide } = decider([rulesOf([{ ...half, key: 'params.userId' }])])
  const of = (userId: string) =>
    Array.from({ length: 50 }, () => (decide({ operation: 'getUser', params: { userId } }) ? 1 : 0))
  t.notSame(of('u1'), of('u2'))
})

t.test('counters outlive the decider', async (t) => {
  const scenario = rulesOf([{ when: { operation: 'getUser' }, times: 1, ...delay('1s') }])
  const { decide, counters } = decider([scenario])
  t.ok(decide(get))
  t.notOk(decider([scenario], { counters }).decide(get))
})

t.test('POST /kyc is asked as a call and per document, each rule at one of both', async (t) => {
  const rules = [
    { name: 'call', when: { operation: '*' }, ...delay('1s') },
    {
      name: 'document',
      when: { operation: 'submitKyc', item: { document_type: 'tid' } },
      then: { fault: 'reset' },
    },
    {
      name: 'life',
      when: { operation: 'submitKyc' },
      then: { kyc: [{ status: 'failed' }], delay: '5s' },
    },
  ]
  const { decide } = decider([rulesOf(rules)])
  t.match(decide(kyc()), { rule: 'call', hit: 1, outcome: { delay: { minMs: 1_000 } } })
  t.match(decide(kyc({ document_type: 'tid' })), {
    rule: 'document',
    hit: 1,
    outcome: { fault: 'reset', at: 'before' },
  })
  t.match(decide(kyc({ document_type: 'pid' })), {
    rule: 'life',
    hit: 1,
    outcome: { kyc: [{ status: 'failed' }], delay: { minMs: 5_000 } },
  })
  t.equal(decide(kyc())?.hit, 2)
})

t.test('parts of a call are read only when a rule asks', async (t) => {
  const { decide } = decider([
    rulesOf([
      {
        when: { operation: 'createTransaction', account: { ifsc_code: { starts_with: 'HDFC' } } },
        ...delay('1s'),
      },
    ]),
  ])
  const call = (operation: 'getUser' | 'createTransaction'): RuleCall => ({
    operation,
    get account(): unknown {
      if (operation === 'getUser') throw new Error('asked')
      return { ifsc_code: 'HDFC0000001' }
    },
  })
  t.equal(decide(call('getUser')), undefined)
  t.ok(decide(call('createTransaction')))
})

t.test('a long list of exact values is tested in the order of the rules', async (t) => {
  const account = (n: number) => ({ account: { account_number: String(880_000_000_000 + n) } })
  const rules = Array.from({ length: 100 }, (_, n) => ({
    name: `n${n}`,
    when: { operation: 'createTransaction', ...account(n % 90) },
    ...delay('1s'),
  }))
  const any = {
    name: 'paise',
    when: { operation: 'createTransaction', body: { amount: { paise: 91 } } },
    ...delay('2s'),
  }
  const { decide } = decider([rulesOf([...rules.slice(0, 50), any, ...rules.slice(50)])])
  t.equal(decide(pay({ amount: 1.5 }, account(95 % 90)))?.rule, 'n5')
  t.equal(decide(pay({ amount: '1.91' }, account(49)))?.rule, 'n49')
  t.equal(decide(pay({ amount: '1.91' }, account(70)))?.rule, 'paise')
  t.equal(decide(pay({ amount: 2 }, account(89)))?.rule, 'n89')
  t.equal(
    decide(pay({ amount: 2 }, { account: { account_number: 880_000_000_003 } }))?.rule,
    'n3',
    'a number equals its text',
  )
  t.equal(decide(pay({ amount: 2 }, account(500))), undefined)
  t.equal(decide(pay({ amount: 2 })), undefined)
})

t.test('a magic value with a response says whether the call is carried out', async (t) => {
  const respond = { status: 504 }
  const outcomes = [
    { respond, at: 'after', transaction: [{ status: 'PENDING' }] },
    { fault: 'hang', effect: 'after_timeout', after: '30s' },
    { respond },
  ]
  const when = { operation: 'createTransaction', body: { amount: 1 } }
  const found = magicValuesOf(compiled({ rules: outcomes.map((then) => ({ when, then })) }))
  t.strictSame(
    found.map(({ outcome }) => outcome),
    [
      'response 504 (carried out), stays PENDING',
      'hang (carried out 30s later)',
      'response 504 (not carried out)',
    ],
  )
})

t.test('an event meets the first webhook rule for it', async (t) => {
  const scenario = compiled({
    webhooks: [
      {
        when: { event: 'kyc.*', data: { document_type: 'tid' } },
        key: 'data.user_id',
        times: 1,
        then: { drop: true },
      },
      {
        name: 'rest',
        when: { event: '*' },
        then: {
          copies: 2,
          delay: '1s..2s',
          hold_until: 'webhook.test',
          signature: 'wrong',
          timestamp: 'stale',
          body: 'truncated',
        },
      },
    ].map((rule, i) => (i === 1 ? { ...rule, when: { event: 'transaction.*' } } : rule)),
  })
  const { decideWebhook } = decider([scenario])
  const event = { event: 'kyc.failed', data: { document_type: 'tid', user_id: 'u1' } } as const
  t.match(decideWebhook(event)?.outcome, { drop: true })
  t.equal(decideWebhook(event), undefined)
  t.ok(decideWebhook({ ...event, data: { ...event.data, user_id: 'u2' } }))
  t.strictSame(decideWebhook({ event: 'transaction.success' }), {
    scenario: 'test',
    rule: 'rest',
    hit: 1,
    outcome: {
      copies: Array(2).fill({ minMs: 1_000, maxMs: 2_000 }),
      holdUntil: 'webhook.test',
      fault: { signature: 'wrong', timestamp: 'stale', body: 'truncated' },
    },
  })
  t.equal(decideWebhook({ event: 'user.created' }), undefined)
})

t.test('a timeline is compiled to ms and whole actions', async (t) => {
  const rule = { when: { operation: 'getUser' }, then: { delay: '1s' } }
  const { timeline, expect } = compiled({
    timeline: [
      { after: '10s', every: '30s', times: 5, do: { trigger: 'transaction.success' } },
      { do: { credit: { amount: 2500.5, remark: 'x' } } },
      {
        after: 'PT1M',
        do: { simulate: { transaction: 'latest', status: 'FAILED', reason: 'gateway_down' } },
      },
      { do: { create_users: 3 } },
      { do: { use: 'slow' } },
      { do: { rule } },
      { after: '1s', do: { reset: true } },
    ],
    expect: { requests: { getUser: 2, createTransaction: { at_least: 1 } } },
  })
  t.strictSame(timeline, [
    {
      after_ms: 10_000,
      every_ms: 30_000,
      times: 5,
      do: { trigger: 'transaction.success', resource: 'latest' },
    },
    { after_ms: 0, do: { credit: { amount: '2500.50', remark: 'x' } } },
    {
      after_ms: 60_000,
      do: {
        simulate: {
          kind: 'transaction',
          resource: 'latest',
          status: 'FAILED',
          reason: 'gateway_down',
        },
      },
    },
    { after_ms: 0, do: { create_users: 3 } },
    { after_ms: 0, do: { use: 'slow' } },
    { after_ms: 0, do: { rule } },
    { after_ms: 1_000, do: { reset: true } },
  ])
  t.strictSame(
    [...expect],
    [
      ['getUser', { exactly: 2 }],
      ['createTransaction', { at_least: 1 }],
    ],
  )
})
