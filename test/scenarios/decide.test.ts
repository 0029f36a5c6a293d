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

t.test('skip, times and sequence choose the hits on which a rule acts', async (t) => {
  const turns = [{ delay: '1s' }, 'pass', { delay: '3s' }]
  const table: [rule: object, seconds: number[]][] = [
    [{ times: 2, ...delay('1s') }, [1, 1, 9, 9, 9, 9]],
    [{ skip: 2, times: 1, ...delay('1s') }, [9, 9, 1, 9, 9, 9]],
    [{ sequence: turns }, [1, 9, 3, 3, 3, 3]],
    [{ sequence: turns, then_on: 'last' }, [1, 9, 3, 3, 3, 3]],
    [{ sequence: turns, then_on: 'loop' }, [1, 9, 3, 1, 9, 3]],
    [{ sequence: turns, then_on: 'pass' }, [1, 9, 3, 9, 9, 9]],
    [{ then: { sequence: turns, then_on: 'loop' } }, [1, 9, 3, 1, 9, 3]],
    [{ times: 2, sequence: turns, then_on: 'loop' }, [1, 9, 9, 9, 9, 9]],
  ]
  const when = { operation: 'getUser' }
  for (const [rule, seconds] of table) {
    const { decide } = decider([
      rulesOf([
        { when, ...rule },
        { when, ...delay('9s') },
      ]),
    ])
    const seen = seconds.map(() => decide(get)!.outcome.delay!.minMs / 1_000)
    t.strictSame(seen, seconds, JSON.stringify(rule))
  }
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

const draws = (rules: unknown[], name: string, seed = 1) => {
  const { decide } = decider([rulesOf(rules)], { seed })
  return Array.from({ length: 200 }, () => (decide(get)?.rule === name ? 1 : 0))
}
const half = { name: 'half', when: { operation: 'getUser' }, chance: 0.5, then: { delay: '1s' } }

t.test('chance acts on about that part of the calls, the same for one seed', async (t) => {
  const first = draws([half], 'half')
  t.strictSame(draws([half], 'half'), first)
  t.notSame(draws([half], 'half', 2), first)
  const hits = first.filter(Boolean).length
  t.ok(hits > 70 && hits < 130, `${hits} of 200`)
})

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
