import t from 'tap'
import { problemText } from '../../src/model/errors.ts'
import { readDefinition, readRule, readScenario } from '../../src/scenarios/read.ts'

/** Files, each with its problems or warnings below it, the first six, as line:column: message. */
const casesOf = (text: string) =>
  [...text.matchAll(/((?:(?!! ).*\n)+)((?:! .+\n)+)/g)].map(([, file, found]) => [
    file!,
    ...found!.trimEnd().slice(2).split('\n! '),
  ])

const BROKEN = casesOf(`rules: [{ when: { opration: getUser }, then: { delay: 1s } }]
! 1:19: unknown key "opration"; did you mean "operation"?
rules: [{ when: { user: { email: { startsWith: a } } }, then: { delay: 1s } }]
! 1:36: unknown operator "startsWith" for \`email\`; did you mean "starts_with"?
titel: x
rules: []
! 1:1: unknown key "titel"; did you mean "title"?
frobnicate: 1
rules: []
! 1:1: unknown key "frobnicate"; known keys: $schema, title, description, extends, fast_forward, base, counts, assume, rules, webhooks, timeline, statement, expect
rules: [{ when: { operation: createTransacton }, then: { delay: 1s } }]
! 1:30: unknown operation "createTransacton"; did you mean "createTransaction"?
rules: [{ when: { operation: payEverybody }, then: { delay: 1s } }]
! 1:30: unknown operation "payEverybody"; known: createUser, getUser, listUsers, createTransaction, listTransactions, getTransaction, listTransactionHistory, listUserTransactionHistory, submitKyc, getKyc, addBankAccount, listBankAccounts, getClientProfile, createWebhook, getWebhook, updateWebhook or "*"
rules: [{ when: { operation: createTransaction }, then: { transaction: [{ status: PENDNG }] } }]
! 1:83: \`status\` must be PENDING, PROCESSING, SUCCESS or FAILED, not "PENDNG"; did you mean "PENDING"?
rules: [{ when: { operation: createTransaction, body: { amount: { gte: 5, foo: 1 } } }, then: { delay: 1s } }]
! 1:75: "foo" is not an operator, and a comparison can have only operators; known: eq, ne, in, gt, gte, lt, lte, starts_with, ends_with, contains, matches, empty, absent, paise
rules: [{ when: { operation: createTransaction, body: { gte: 5 } }, then: { delay: 1s } }]
! 1:55: \`body\` takes fields, not a comparison; put the comparison under a field, such as body: { field: { gte: … } }
rules: [{ when: { operation: createTransaction }, then: { transaction: [{ status: PENDING }, { status: FAILED, reason: beneficary_bank_offline }] } }]
! 1:120: unknown reason "beneficary_bank_offline"; did you mean "beneficiary_bank_offline"? (or add a \`description\`)
rules: [{ when: { operation: getUser }, then: { fault: rest } }]
! 1:56: \`fault\` must be reset, hang, empty, malformed or truncate, not "rest"; did you mean "reset"?
webhooks: [{ when: { event: transaction.sucess }, then: { copies: 2 } }]
! 1:29: unknown event "transaction.sucess"; did you mean "transaction.success"?
rules: [{ when: { operation: getUser, user: { emial: a@b.c } }, then: { delay: 1s } }]
! 1:47: \`user\` has no "emial"; did you mean "email"?
rules: [{}]
! 1:9: an empty rule; specify the calls with \`when\` and the outcome with \`then\`
rules: [{ when: {}, then: { delay: 1s } }]
! 1:17: an empty \`when\`; to match every call, write operation: "*"
rules: [{ then: { delay: 1s } }]
! 1:9: \`when\` is missing; specify the calls, such as when: { operation: createTransaction }
rules: [{ when: { operation: getUser } }]
! 1:9: the rule has no outcome; add \`then\` or \`sequence\`
rules: [{ when: { operation: getUser }, then: {} }]
! 1:47: an empty outcome; write kyc, bank, transaction, respond, delay, fault or visible_after
rules: [{ when: { operation: createUser, body: { email: {} } }, then: { delay: 1s } }]
! 1:57: an empty condition; write a value, { empty: true } or { absent: true }
title: x
! 1:1: the scenario is empty; add rules, webhooks, timeline, statement, expect, assume or extends
- a
! 1:1: a scenario file must be a mapping (name: value), not a list
hello
! 1:1: a scenario file must be a mapping (name: value), not the text "hello"
rules: { when: x }
! 1:8: \`rules\` must be a list, not a mapping
title: 42
rules: []
! 1:8: \`title\` must be text, not the number 42; put it in quotes
rules: [{ times: "3", when: { operation: getUser }, then: { delay: 1s } }]
! 1:18: \`times\` must be a number, not the text "3"
rules: [{ times: 0, when: { operation: getUser }, then: { delay: 1s } }]
! 1:18: \`times\` must be at least 1, not 0
rules: [{ chance: 5, when: { operation: getUser }, then: { delay: 1s } }]
! 1:19: \`chance\` must be at most 1, not 5
rules: [{ when: { operation: getUser }, then: { delay: 5 } }]
! 1:56: \`delay\` must be a duration (500ms, 5s, 2m, 1h, 2d or ISO 8601 such as PT5S, or a range such as 200ms..2s), not 5; a number has no unit, write 5s
rules: [{ when: { operation: createTransaction }, then: { transaction: [{ status: PENDING }, { status: SUCCESS, after: P1M }] } }]
! 1:120: \`after\` must be a duration (500ms, 5s, 2m, 1h, 2d or ISO 8601 such as PT5S), not "P1M"
rules: [{ when: { operation: getUser }, then: { respond: { status: 503, headers: { Content-Length: "5" } } } }]
! 1:84: "Content-Length" is not a header that a scenario can set; the server sets it itself
rules: [{ when: { operation: addBankAccount, body: { account_number: 999900000001 } }, then: { delay: 1s } }]
! 1:70: \`account_number\` is text, not a number: put 999900000001 in quotes
rules: [{ when: { operation: addBankAccount, body: { account_number: 000123456789 } }, then: { delay: 1s } }]
! 1:70: put "000123456789" in quotes: as a number it would lose its original form
rules:
	- when: { operation: getUser }
! 2:1: a tab; indent with spaces
title: a
title: b
rules: []
! 2:1: the key "title" occurs twice; remove one
rules:
  - { name: one, when: { operation: getUser }, then: { delay: 1s } }
  - { name: one, when: { operation: getUser }, then: { delay: 1s } }
! 3:13: rules[0] also has the name "one"; counters use the name, so rename one of the two
rules: []
__proto__: { title: x }
! 2:1: the key __proto__ is not allowed; use another name
rules: &r []
webhooks: *r
! 1:11: an anchor (&); write the value out where it is used
! 2:11: an alias (*); write the value out
title: !!js/function x
rules: []
! 1:22: a tag (!); remove it, and quote the value if it is text
%YAML 1.1
---
rules: []
! 1:1: a directive (%); remove it
rules: []
---
rules: []
! 2:1: a second document (---); one file holds one scenario
rules: [
title: x
! 2:1: Flow sequence in block collection must be sufficiently indented and end with a ]
rules:
  - { when: { operation: getUser }, then: { delay: 1s }
! 3:1: Flow map in block collection must be sufficiently indented and end with a }
title: slow: very
rules: [a
  b: c
! 1:8: a mapping cannot start inside another on one line; quote a string that has ": "
! 2:9: a key must be on one line, with a colon and a space after it
! 4:1: Flow sequence in block collection must be sufficiently indented and end with a ]
rules: []]
! 1:10: this is not allowed here; is a quote or a line break missing before it?
title: "x
! 2:1: Missing closing "quote
rules:
  - when: { operation: getUser }
   then: { delay: 1s }
! 3:1: Sequence item without - indicator
title: &a [x,x]
description: &b [*a,*a]
! 1:11: an anchor (&); write the value out where it is used
! 2:17: an anchor (&); write the value out where it is used
! 2:18: an alias (*); write the value out
! 2:21: an alias (*); write the value out
rules: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
! 1:39: more than 32 levels of mappings and lists; a scenario needs about 10
rules: [{ when: { operation: createUser, body: { email: { matches: "(a+)\\\\1" } } }, then: { delay: 1s } }]
! 1:68: \`matches\` is not a valid RE2 regular expression (invalid escape sequence: \`\\1\`); RE2 has no backreferences and no look-around
rules: [{ when: { operation: createUser, body: { email: { matches: "[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]" } } }, then: { delay: 1s } }]
! 1:68: \`matches\` must have at most 100 characters, not 101
rules: [{ when: { operation: createTransaction }, then: { transaction: [] } }]
! 1:72: \`transaction\` must have at least 1 item
rules: [{ when: { operation: createTransaction }, then: { transaction: [{ status: SUCCESS }] } }]
! 1:83: impossible step: a transaction starts as PENDING, not SUCCESS; make SUCCESS a later step, with after: 0s if it must be immediate
rules: [{ when: { operation: createTransaction }, then: { transaction: [{ status: PENDING }, { status: FAILED, after: 1s }, { status: PENDING, after: 1s }] } }]
! 1:135: impossible step: PENDING cannot follow FAILED; SUCCESS can
rules: [{ when: { operation: createTransaction }, then: { transaction: [{ status: PENDING, after: 1s }] } }]
! 1:92: the first step happens at creation; remove \`after\`, or put another step before this one
rules: [{ when: { operation: createTransaction }, then: { transaction: [{ status: PENDING }, { status: SUCCESS, after: 1s, reason: gateway_down }] } }]
! 1:124: \`reason\` needs the status FAILED, and this step is SUCCESS; remove it
rules: [{ when: { operation: submitKyc }, then: { kyc: [{ status: success }, { status: failed, after: 1s }] } }]
! 1:88: impossible step: success is final; failed cannot follow it
rules: [{ when: { operation: submitKyc }, then: { kyc: [{ status: success, result: { panStatus: Marked as Fake } }] } }]
! 1:97: impossible step: a check with panStatus "Marked as Fake" cannot succeed; change the status to failed, or panStatus to EXISTING AND VALID
rules: [{ when: { operation: addBankAccount }, then: { bank: [{ status: failed, accountName: A }] } }]
! 1:81: \`accountName\` needs the status success, and this step is failed; remove it
rules: [{ when: { operation: getUser }, then: { kyc: [{ status: failed }] } }]
! 1:49: \`kyc\` needs a rule for submitKyc only; write operation: submitKyc in \`when\`
rules: [{ when: { operation: createTransaction, item: { document_type: tid } }, then: { delay: 1s } }]
! 1:49: \`item\` is a document of POST /kyc; add operation: submitKyc
rules: [{ when: { operation: createTransaction }, then: { respond: { status: 503 }, transaction: [{ status: PENDING }] } }]
! 1:85: \`respond\` replaces the operation, so no \`transaction\` is created; add at: after, or remove one
rules: [{ when: { operation: createTransaction }, then: { fault: reset, transaction: [{ status: PENDING }] } }]
! 1:73: the fault happens before the operation, so no \`transaction\` is created; add at: after, or remove one
rules: [{ when: { operation: getUser }, then: { at: before, delay: 1s } }]
! 1:49: \`at\` is beside a \`fault\` or \`respond\`; add one, or remove \`at\`
rules: [{ when: { operation: getUser }, then: { at: after, visible_after: 1s } }]
! 1:49: \`at\` is beside a \`fault\`, \`respond\` or \`delay\`; add one, or remove \`at\`
statement: [{ when: {}, then: { omit: true } }]
! 1:21: an empty \`when\`; to match every row, write amount: { absent: false }
statement: [{ when: { amount: 5 }, then: { omit: true, day: next } }]
! 1:42: must have exactly one of omit, repeat, amount, day and utr
statement: [{ when: { amount: 5 }, then: { amount: 1 } }]
! 1:52: \`amount\` must be a difference in rupees, in quotes, such as "+1.00" or "-0.50", not 1
statement: [{ when: { direction: in }, then: { omit: true } }]
! 1:34: must be debit or credit, not "in"
webhooks: [{ when: { event: "*" }, then: { together: true, delay: 1s } }]
! 1:44: \`together\` and \`delay\` both say when; remove one
rules: [{ when: { operation: createUser }, then: { fault: hang, at: after, effect: after_timeout } }]
! 1:65: \`effect\` and \`at\` both say when the operation runs; remove one
rules: [{ when: { operation: createUser }, then: { fault: hang, after: 5s } }]
! 1:65: \`after\` says when the effect comes; add effect: after_timeout, or remove it
rules: [{ when: { operation: getUser }, then: { visible_after: 5s } }]
! 1:49: \`visible_after\` needs operations that create something, and getUser doesn't; name createUser, submitKyc, addBankAccount or createTransaction in \`when\`
rules:
  - when: { operation: getUser }
    then: { delay: 1s }
    sequence: [pass]
! 4:5: the rule has both \`then\` and \`sequence\`; remove one
rules: [{ when: { operation: getUser }, then: { delay: 1s }, then_on: loop }]
! 1:62: \`then_on\` applies after a \`sequence\`, and this rule has none; remove it or add a \`sequence\`
rules: [{ when: { operation: getUser }, sequence: [pas, { dely: 1s }] }]
! 1:52: entry 1 must be pass, not "pas"; did you mean "pass"?
! 1:59: unknown key "dely"; did you mean "delay"?
rules: [{ key: user_id, when: { operation: getUser }, then: { delay: 1s } }]
! 1:16: \`key\` must be the path of a value of the call, such as body.user_id, not "user_id"
webhooks: [{ when: { event: "*" }, then: { drop: true, copies: 2 } }]
! 1:44: a dropped event is not sent, so \`copies\` has no effect; remove \`drop\` or the others
webhooks: [{ when: { event: "transaction.*" }, then: { hold_until: transaction.success } }]
! 1:68: transaction.success would wait for itself; name in \`when.event\` only the events that must wait
timeline: [{ do: { use: slow, create_users: 1 } }]
! 1:18: 2 actions (create_users, use); \`do\` takes exactly one of call, trigger, simulate, credit, payout, create_users, set_webhook, use, rule or reset
timeline: [{ after: 1s, do: {} }]
! 1:29: no action; \`do\` takes exactly one of call, trigger, simulate, credit, payout, create_users, set_webhook, use, rule or reset
timeline: [{ times: 3, do: { use: slow } }]
! 1:21: \`times\` needs \`every\`: the time between two runs
timeline: [{ every: 1ms, do: { create_users: 1 } }]
! 1:21: \`every\` must be at least 100ms, not "1ms"
timeline: [{ do: { reset: true } }]
! 1:20: an immediate reset would undo the activation, and would repeat forever in the start scenario; give the entry an \`after\` of at least 100ms
timeline: [{ after: 1s, every: 1m, do: { use: slow } }]
! 1:25: \`use\` ends this timeline, so \`every\` has no effect; remove it
timeline: [{ do: { simulate: { kyc: latest, status: SUCCESS } } }]
! 1:53: a KYC record can change to success or failed, not to SUCCESS
timeline: [{ do: { rule: { when: { operation: getUsr }, then: { delay: 1s } } } }]
! 1:47: unknown operation "getUsr"; did you mean "getUser"?
timeline: [{ do: { credit: { amount: "1.234" } } }]
! 1:38: \`amount\` must be rupees such as "2500.00", from 1.00 to 9999999999.99, not "1.234"
rules: [{ when: { operation: createTransaction }, then: { transaction: [{ status: PENDING }, { status: FAILED, description: a, message: b }] } }]
! 1:128: \`message\` and \`description\` are the same field; remove one
rules: [{ when: { operation: addBankAccount }, then: { bank: [{ status: success, reason: closed }] } }]
! 1:82: \`reason\` needs the status failed, and this step is success; remove it
expect:
  - { requests: { getUser: 1 } }
! 2:3: \`expect\` must be a mapping such as { requests: { createTransaction: 1 } }, not a list
expect: { requests: { getUser: { at_least: 3, at_most: 1 } } }
! 1:32: no number is at least 3 and at most 1; at_least must not be larger than at_most
extends: Slow Network
! 1:10: \`extends\` must be a name of lowercase letters, digits and hyphens, at most 63 characters, not "Slow Network"
base: other
rules: []
! 1:7: \`base\` must be none, not "other"
rules: [{ when: { operation: getUser }, then: { respond: { status: 503, headers: { x-a: "a\\r\\nb" } } } }]
! 1:89: \`x-a\` must be one line of printable ASCII
titel: x
rules:
  - when: { operation: getUsr }
    then: { dely: 1s }
  - {}
extends: A
! 1:1: unknown key "titel"; did you mean "title"?
! 3:24: unknown operation "getUsr"; did you mean "getUser"?
! 4:13: unknown key "dely"; did you mean "delay"?
! 5:5: an empty rule; specify the calls with \`when\` and the outcome with \`then\`
! 6:10: \`extends\` must be a name of lowercase letters, digits and hyphens, at most 63 characters, not "A"
rules: [{ when: { operation: "*" }, then: { kyc: failed } }]
! 1:50: \`kyc\` must be a list of steps, such as [{ status: failed }], not "failed"
rules: [{ when: { operation: submitKyc }, then: { kyc: [failed] } }]
! 1:57: entry 1 must be a mapping such as { status: failed }, not the text "failed"
rules: [{ when: { operation: getUser }, then: { respond: 503 } }]
! 1:58: \`respond\` must be a mapping such as respond: { status: 503 }, not the number 503
rules: [{ when: { operation: getUser }, then: { sequence: [hang] } }]
! 1:60: entry 1 must be pass or a mapping such as { fault: hang }, not "hang"
rules: [{ when: { operation: getUser }, then: hang }]
! 1:47: \`then\` must be a mapping such as then: { fault: hang }, not the text "hang"
rules: [{ when: getUser, then: { delay: 1s } }]
! 1:17: \`when\` must be a mapping such as when: { operation: createTransaction }, not the text "getUser"
rules: [{ when: { operation: POST /kycs }, then: { delay: 1s } }]
! 1:30: unknown operation "POST /kycs"; did you mean "POST /kyc"?
rules: [{ when: { operation: submitKyc, body: { document_number: x } }, then: { delay: 1s } }]
! 1:49: \`document_number\` is a field of each document, not of the body; write item: { document_number: … }
rules: [{ when: { operation: submitKyc, item: { document_type: pan } }, then: { delay: 1s } }]
! 1:64: \`document_type\` is pid or tid, so "pan" never matches; write document_type: tid, or document_name: pan
rules: [{ when: { operation: createTransaction, body: { amount: "> 50000" } }, then: { delay: 1s } }]
! 1:65: \`amount\` is a number or a decimal string, so "> 50000" never matches; write amount: { gt: 50000 }
rules: [{ when: { operation: createTransaction, body: { amount: "50,000" } }, then: { delay: 1s } }]
! 1:65: \`amount\` is a number or a decimal string, so "50,000" never matches; write amount: 50000
rules: [{ when: { operation: "*", time: { from: "25:00", to: "01:00" } }, then: { delay: 1s } }]
! 1:49: \`from\` must be a time of day such as "01:00", not "25:00"
rules: [{ when: { operation: "*", time: { from: "01:00", to: "01:00" } }, then: { delay: 1s } }]
! 1:41: \`time\` is empty: \`from\` and \`to\` are the same time; remove \`time\`, or change one of them
rules: [{ when: { operation: "*", time: { from: "01:00", to: "02:00", zone: Mars } }, then: { delay: 1s } }]
! 1:77: \`zone\` must be an IANA time zone such as Asia/Kolkata or UTC, not "Mars"
rules: [{ when: { operation: "*", elapsed: { from: 2h, to: 1h } }, then: { delay: 1s } }]
! 1:44: \`elapsed\` is empty: \`to\` must be later than \`from\`
timeline: [{ at: "2026-01-01T10:00:00Z", after: 1s, do: { use: slow } }]
! 1:42: \`at\` and \`after\` both say when; remove one
timeline: [{ at: "2026-01-01T10:00:00Z", do: { reset: true } }]
! 1:14: after a reset, an instant that has passed would come again and again; write \`after\`
timeline: [{ at: "10:00", do: { create_users: 1 } }]
! 1:18: \`at\` must be an instant such as "2026-01-01T10:00:00Z", from 1970 to 9999, not "10:00"
timeline: [{ at: "1950-01-01T00:00:00Z", do: { create_users: 1 } }]
! 1:18: \`at\` must be an instant such as "2026-01-01T10:00:00Z", from 1970 to 9999, not "1950-01-01T00:00:00Z"
timeline: [{ do: { call: payAll } }]
! 1:26: \`call\` must be createUser, getUser, listUsers, createTransaction, listTransactions, getTransaction, listTransactionHistory, listUserTransactionHistory, submitKyc, getKyc, addBankAccount, listBankAccounts, getClientProfile, createWebhook, getWebhook or updateWebhook, not "payAll"
timeline: [{ do: { create_users: 1, body: {} } }]
! 1:37: \`body\` has no effect without \`call\`; remove it
timeline: [{ do: { call: getUser, params: { userId: 5 } } }]
! 1:53: \`userId\` must be text, not the number 5; put it in quotes
`)
const TOO_DEEP = 'more than 32 levels of mappings and lists; a scenario needs about 10'
BROKEN.push(
  ['', '1:1: a scenario file must be a mapping (name: value), not nothing'],
  ['['.repeat(60_000), `1:33: ${TOO_DEEP}`],
  ['- '.repeat(30_000), `1:65: ${TOO_DEEP}`],
  ['? '.repeat(30_000), `1:65: ${TOO_DEEP}`],
  ['{a: '.repeat(15_000), `1:129: ${TOO_DEEP}`],
  [
    `title: x\n${'# padding\n'.repeat(7_000)}`,
    '1:1: the file has 70009 bytes; the maximum is 65536 (64 KiB). Split the file with extends',
  ],
)

const read = (text: string) => readScenario(text, { name: 'x', file: 'x.yaml' })

function timed<T>(run: () => T): { result: T; ms: number } {
  // Processor time: what another process does meanwhile does not count.
  const start = process.cpuUsage()
  const result = run()
  return { result, ms: (({ user, system }) => (user + system) / 1_000)(process.cpuUsage(start)) }
}

/** The same; where it took long, once or twice more, as a busy machine is slow now and then. */
function timedFairly<T>(run: () => T, limitMs: number): { result: T; ms: number } {
  const tries = [timed(run)]
  while (tries.at(-1)!.ms >= limitMs && tries.length < 3) tries.push(timed(run))
  return tries.at(-1)!
}

t.test('a broken file is refused with its place, what was found and what to do', async (t) => {
  for (const [text, ...wanted] of BROKEN) {
    const what = wanted[0]!
    const { result, ms } = timedFairly(() => read(text!), 250)
    t.equal(result.ok, false, what)
    if (result.ok) continue
    t.strictSame(
      result.problems.slice(0, 6).map(problemText),
      wanted.map((one) => `x.yaml:${one}`),
      what,
    )
    // The first one bears the start of the parsers.
    t.ok(ms < 250, `${what} is reported within 250 ms (${ms.toFixed(0)})`)
  }
})

const many = (count: number, one: (i: number) => string) =>
  `rules:\n${Array.from({ length: count }, (_, i) => one(i)).join('')}`

t.test('a comment may be as long as the file', async (t) => {
  t.equal(read(`title: x\nrules: []\n# ${'a'.repeat(65_000)}\n`).ok, true)
})

t.test('no file of 64 KiB takes long, right or wrong', async (t) => {
  const files: Record<string, string> = {
    keys: Array.from({ length: 6_000 }, (_, i) => `k${i}: 1`).join('\n'),
    'brackets side by side': '[]'.repeat(19_900),
    quotes: '"'.repeat(65_000),
    'bad escapes': `- "${'\\x'.repeat(4_000)}"\n`.repeat(8),
    commas: `[${','.repeat(60_000)}]`,
    'unknown fields': `rules: [{ when: { operation: createTransaction, body: {${Array.from({ length: 4_000 }, (_, i) => `amoun${i}: 1`)}}}, then: { delay: 1s } }]`,
    'unknown operations': many(
      700,
      () => '  - { when: { operation: listUserTransactionHistorie }, then: { delay: 1s } }\n',
    ),
    patterns: many(
      500,
      (i) =>
        `  - { when: { operation: createUser, body: { email: { matches: '(\\pL{16}){20}${i}' } } }, then: { delay: 1s } }\n`,
    ),
    'many rules': many(
      370,
      (i) =>
        `  - { name: r${i}, when: { operation: createTransaction, body: { amount: { gte: 1${i}000 } } }, then: { transaction: [{ status: PENDING }, { status: FAILED, after: 3s }] } }\n`,
    ),
  }
  for (const [what, text] of Object.entries(files)) {
    let best = Number.POSITIVE_INFINITY
    // The slowest, thousands of syntax errors, takes about 1 s on a busy machine; one of three tries is enough.
    for (let n = 0; n < 3 && best >= 2_500; n++) best = Math.min(best, timed(() => read(text)).ms)
    t.ok(best < 2_500, `${what}: ${best.toFixed(0)} ms`)
  }
})

t.test('a message shows a value of the file, cut and without secrets', async (t) => {
  const result = read(
    `base: "${'x'.repeat(500)}"\nextends: "sbx_live_1 999912345678 ABCDE1234F HDFC0001234"\n`,
  )
  t.notOk(result.ok)
  if (result.ok) return
  const text = result.problems.map(problemText).join()
  t.notMatch(text, /sbx_live_1|x{60}/)
  t.match(text, /XXXX 999912345678 ABCDE1234F HDFC0001234/)
})

t.test('JSON is read like YAML, tabs and all', async (t) => {
  const text = JSON.stringify(
    { rules: [{ when: { operation: 'getUser' }, then: { delay: '1s' } }] },
    null,
    '\t',
  )
  const result = read(text)
  t.ok(result.ok)
  const broken = read(text.replace('getUser', 'getUsr'))
  t.notOk(broken.ok)
  if (!broken.ok) {
    t.strictSame(broken.problems.map(problemText), [
      'x.yaml:5:18: unknown operation "getUsr"; did you mean "getUser"?',
    ])
  }
})

t.test('words that YAML 1.1 took for something else stay words', async (t) => {
  const result = read(
    'rules: [{ when: { operation: createUser, body: { flag: { in: [yes, no, on, NO] }, time: 12:30:45, day: 2026-01-31 } }, then: { delay: 1s } }]',
  )
  t.ok(result.ok)
  if (result.ok) {
    t.strictSame(
      result.scenario.rules[0]!.tests.map(({ argument }) => argument),
      [['yes', 'no', 'on', 'NO'], '12:30:45', '2026-01-31'],
    )
  }
})

const WARNED = casesOf(`rules:
  - { when: { operation: getUser }, then: { delay: 1s } }
  - { when: { operation: getUser }, then: { delay: 1s } }
! 3:5: this rule is never reached: rule 1 (rules[0]) is above it and matches every call that it matches
rules:
  - { name: wide, when: { operation: "*", body: { amount: { gte: 100 } } }, then: { respond: { status: 503 } } }
  - { when: { operation: createTransaction, body: { amount: { gt: 500, paise: 91 } } }, then: { delay: 1s } }
! 3:5: this rule is never reached: wide (rules[0]) is above it and matches every call that it matches
rules:
  - { when: { operation: createTransaction }, then: { fault: reset } }
  - { when: { operation: createTransaction }, then: { transaction: [{ status: PENDING }] } }
! 3:5: this rule is never reached: rule 1 (rules[0]) is above it and matches every call that it matches
webhooks:
  - { when: { event: "*" }, then: { copies: 2 } }
  - { when: { event: kyc.failed }, then: { drop: true } }
! 3:5: this rule is never reached: webhook rule 1 (webhooks[0]) is above it and matches every call that it matches
rules: [{ when: { operation: createTransaction, body: { amount: { gt: 10, lt: 5 } } }, then: { delay: 1s } }]
! 1:9: this rule never matches: no body.amount meets both gt and lt
rules: [{ when: { operation: createTransaction, body: { ammount: 5 } }, then: { delay: 1s } }]
! 1:57: \`body\` has no "ammount" in the contract; did you mean "amount"?
rules: [{ when: { operation: getUser, body: { a: 1 } }, then: { delay: 1s } }]
! 1:39: this rule never matches: calls of getUser have no \`body\`
rules: [{ when: { operation: getUser, account: { ifsc_code: HDFC0000001 } }, then: { delay: 1s } }]
! 1:39: this rule never matches: calls of getUser have no \`account\`
rules: [{ when: { operation: { in: [listUsers, getTransaction] }, user: { user_type: business } }, then: { delay: 1s } }]
! 1:67: this rule never matches: calls of listUsers or getTransaction have no \`user\`
rules: [{ when: { operation: createTransaction }, then: { transaction: [{ status: PENDING }, { status: FAILED, reason: moon_phase }] } }]
! 1:120: "moon_phase" is not a known reason; add a \`description\` that explains it
rules: [{ key: params.userId, when: { operation: getUser }, then: { delay: 1s } }]
! 1:11: \`key\` has no effect without skip, times, chance or sequence
rules: [{ when: { operation: createTransaction, body: { mode: IMPS } }, then: { delay: 1s } }]
! 1:57: the body of createTransaction has no "mode" in the contract, but from_user_id, to_user_id, benif_bank_id, amount, reference_id, remark or currency_code
rules: [{ when: { operation: submitKyc, item: { document_name: passport } }, then: { delay: 1s } }]
! 1:64: \`document_name\` is aadhar or pan in the contract, so this matches only a call with a mistake
webhooks: [{ when: { event: transaction.success }, then: { hold_until: transaction.pending } }]
! 1:72: transaction.pending never follows transaction.success, so nothing waits for it
rules: [{ when: { operation: submitKyc, item: { dateOfBirth: "2001-01-01" } }, then: { delay: 1s } }]
! 1:62: \`dateOfBirth\` must be a real date as DD-MM-YYYY; found "2001-01-01", so this matches only a call with a mistake
rules: [{ when: { operation: submitKyc, item: { dateOfBirth: { starts_with: "2001" } } }, then: { delay: 1s } }]
! 1:62: \`dateOfBirth\` is DD-MM-YYYY, so this matches only a call with a mistake
rules: [{ when: { operation: submitKyc, item: { document_type: passport } }, then: { delay: 1s } }]
! 1:64: \`document_type\` is pid or tid in the contract, so this matches only a call with a mistake
rules: [{ when: { operation: createUser, body: { email: a } }, then: { delay: 1s } }]
! 1:57: \`email\` must be an e-mail address; found "a", so this matches only a call with a mistake
rules: [{ when: { operation: createUser, body: { mobile: "12" } }, then: { delay: 1s } }]
! 1:58: \`mobile\` must be an Indian mobile (ten digits that start with 6 to 9) or E.164 of another country; found "12", so this matches only a call with a mistake
rules: [{ when: { operation: createTransaction, body: { from_user_id: x } }, then: { delay: 1s } }]
! 1:71: \`from_user_id\` must be a UUID; found "x", so this matches only a call with a mistake
timeline: [{ every: 5s, do: { create_users: 1 } }]
! 1:14: without \`times\` it repeats forever: 17,280 times for each day that the clock moves
timeline: [{ every: 2m, do: { call: createUser } }]
! 1:14: without \`times\` it repeats forever: 720 times for each day that the clock moves
`)

t.test('what is allowed but hardly meant is warned of', async (t) => {
  for (const [text, ...wanted] of WARNED) {
    const result = read(text!)
    t.ok(result.ok, text!)
    t.strictSame(
      result.warnings.map(problemText),
      wanted.map((one) => `x.yaml:${one}`),
    )
  }
})

t.test('what is meant is not warned of', async (t) => {
  const lower = '{ when: { operation: createTransaction }, then: { delay: 1s } }'
  const FINE = `rules: [{ when: { operation: submitKyc, item: { dateOfBirth: "01-01-2001" } }, then: { delay: 1s } }]
rules: [{ when: { operation: createUser, body: { email: a@example.com, mobile: "9876500001" } }, then: { delay: 1s } }]
rules: [{ when: { operation: createTransaction, body: { amount: 100, reference_id: null } }, then: { delay: 1s } }]
timeline: [{ every: 3m, do: { call: createUser } }]
timeline: [{ every: 5s, times: 2, do: { create_users: 1 } }]
rules: [{ when: { operation: createTransaction }, times: 1, then: { delay: 2s } }, ${lower}]
rules: [{ when: { operation: createTransaction }, skip: 1, then: { delay: 2s } }, ${lower}]
rules: [{ when: { operation: createTransaction }, chance: 0.5, then: { delay: 2s } }, ${lower}]
rules: [{ when: { operation: createTransaction }, sequence: [{ delay: 2s }, pass] }, ${lower}]
rules: [{ when: { operation: createTransaction }, sequence: [{ delay: 2s }], then_on: pass }, ${lower}]
rules: [{ when: { operation: createTransaction }, then: { transaction: [{ status: PENDING }] } }, ${lower}]
rules: [{ when: { operation: createTransaction, body: { amount: { gte: 5 } } }, then: { delay: 2s } }, ${lower}]
rules: [{ when: { operation: getUser }, then: { delay: 2s } }, ${lower}]`
  for (const text of FINE.split('\n')) {
    const { ok, warnings } = read(text)
    t.strictSame([ok, warnings], [true, []], text)
  }
})

t.test('the problems of a JSON definition have a path', async (t) => {
  const at = { name: 'inline', file: 'definition' }
  const problemsOf = (value: unknown) => {
    const result = readDefinition(value, at)
    return result.ok ? [] : result.problems.map(problemText)
  }
  t.strictSame(problemsOf({ rules: [{ when: { operation: 'getUsr' }, then: { delay: '1s' } }] }), [
    'definition: rules[0].when.operation: unknown operation "getUsr"; did you mean "getUser"?',
  ])
  t.strictSame(problemsOf(null), [
    'definition: a scenario file must be a mapping (name: value), not nothing',
  ])
  t.strictSame(problemsOf(JSON.parse('{"rules":[],"__proto__":{"title":"x"}}')), [
    'definition: the key __proto__ is not allowed; use another name',
  ])
  t.match(problemsOf({ title: 'x'.repeat(70_000) })[0], /larger than 64 KiB/)
  let deep: unknown = 1
  for (let i = 0; i < 10_000; i++) deep = [deep]
  t.match(problemsOf({ rules: deep })[0], /more than 32 levels/)
  t.ok(readDefinition({ rules: [{ when: { operation: '*' }, then: { delay: '1s' } }] }, at).ok)
  const one = readRule({ when: { operation: 'getUser' }, then: { kyc: [{ status: 'failed' }] } })
  const said = /^rule: then\.kyc: `kyc` needs a rule for submitKyc only/
  t.match(one.ok ? [] : one.problems.map(problemText), [said])
})
