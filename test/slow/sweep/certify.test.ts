import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DEFAULT_READINGS } from '../../../src/assumptions/readings.ts'
import {
  type Acceptances,
  certificateOf,
  certificatePage,
  certificateText,
} from '../../../src/tools/sweep/certify.ts'
import { run } from '../../cli/program.ts'
import { sweepResult } from './result.ts'
import { smallClient } from './small-client.ts'

// Another list of plans is another profile.
const SHA256 = 'ebc8143262d65858591dae9275d1a2b327a1c2853dbd95530694b3b33edf2ebb'

t.test('a certificate of the command line: open, accepted, and the same bytes again', async (t) => {
  const { cwd, command, read } = smallClient(
    t,
    "if ((await call('GET', '/users?limit=2')).users.length === 2) throw new Error('two')\n",
  )
  const program = await command()
  const certify = (...args: string[]) =>
    run(['certify', '--clock', 'frozen', '--commit', 'c0ffee', ...args, '--', ...program], { cwd })
  const open = await certify()
  t.equal(open.code, 1, open.stderr)
  const { findings, setup } = JSON.parse(read('certificate/certificate.json'))
  t.match(setup, { workers: 1, ledger: null })
  const found = 'relies_on: limit_parameter=honoured'
  t.match(findings, [{ finding: found, level: 'error', state: 'open' }])
  t.match(
    open.stdout,
    /^1 finding open: \d+ plans, \d+ met, \d+ passed\n[\s\S]*relies_on .*[\s\S]* Open\.$/m,
  )

  const accepted = { findings: [found], owner: 'Asha', reason: 'measured', expires: '2027-03-31' }
  writeFileSync(join(cwd, 'accepted.json'), JSON.stringify([accepted]))
  const books = ['--ledger', 'echo reference,amount,status']
  const given = ['--accept', 'accepted.json', '--date', '2027-03-31', '--workers', '2', ...books]
  for (const folder of ['one', 'two']) {
    const { code, stderr } = await certify(...given, '--report', folder)
    t.equal(code, 0, stderr)
  }
  for (const file of ['certificate.json', 'certificate.html'])
    t.equal(read(`one/${file}`), read(`two/${file}`), 'the same input gives the same bytes')
  const certificate = JSON.parse(read('one/certificate.json'))
  t.match(certificate, {
    open: 0,
    commit: 'c0ffee',
    date: '2027-03-31',
    profile_sha256: SHA256,
    setup: { workers: 2, ledger: 'echo reference,amount,status' },
    findings: [{ finding: found, state: 'accepted', owner: 'Asha', expires: '2027-03-31' }],
  })
  t.ok(
    certificate.faults.some(({ fault }: { fault: string }) => fault === 'two workers run at once'),
  )
})

t.test('acceptances expire, readings are guesses until they are measured', async (t) => {
  const result = sweepResult()
  const inForce = { ...DEFAULT_READINGS, list_order: 'oldest_first' }
  const readings = { list_order: 'oldest_first', largest_page: '7' }
  const measured = { against: 'x', measured_at: '2026-11-01T10:00:00Z', readings }
  const running = { inForce }
  const options = { options: { scenario: 'default' }, workers: 1, running } as never
  const finding = 'paid_twice: reset_after createTransaction'
  const of = (acceptances: Acceptances) =>
    certificateOf({ result, options, measured, acceptances, date: '2026-11-28', commit: 'x' })
  const by = { owner: 'Asha', reason: 'known' }
  const stateOf = (...days: string[]) =>
    of(days.map((expires) => ({ findings: [finding], ...by, expires }))).findings.find(
      (one) => one.finding === finding,
    )!.state
  t.strictSame(
    [stateOf(), stateOf('2026-11-27'), stateOf('2026-11-28'), stateOf('2020-01-01', '2027-01-01')],
    ['open', 'expired', 'accepted', 'accepted'],
  )
  const certificate = of([{ findings: ['hung: x'], ...by, expires: '2027-01-01' }])
  t.match(certificate.not_proven.join('\n'), /no finding hung: x, which was accepted; remove it/)
  t.match(
    certificate.findings.map(({ finding }) => finding),
    [/^flaky: stuck/, /^hung: stuck/],
  )
  // What the sweep has as one finding is one row, in lines that fit.
  const shown = certificateText(certificate)
  t.equal(shown.match(/^paid_twice/gm)?.length, 1)
  t.match(shown.replace(/\n +/g, ' '), /The same if the service honours an Idempotency-Key\./)
  t.notMatch(shown, /^.{101}|reset_after/m)
  const basisOf = (name: string) => certificate.readings.find((one) => one.name === name)?.basis
  t.equal(basisOf('list_order'), 'measured on 2026-11-01')
  t.equal(basisOf('largest_page'), 'guess', 'the reading in force is not the measured one')
  t.notMatch(certificatePage(certificate), /<script|<img/)
})

t.test('what certify is given is checked before the first run', async (t) => {
  const entry = { findings: ['x'], owner: 'o', reason: 'r', expires: '2027-01-01' }
  const entries = (more: object) => JSON.stringify([entry, { ...entry, ...more }])
  const cwd = t.testdir({
    'text.json': 'no',
    'list.json': entries({ owner: '' }),
    'day.json': entries({ expires: '2027-13-01' }),
    'more.json': entries({ by: 1 }),
    'object.json': '{}',
  })
  const bash = ['--commit', 'x', '--', 'touch', 'ran']
  for (const [args, message] of [
    [[], /certify needs a program after --/],
    [
      ['--accept', 'none.json', ...bash],
      /--accept none.json cannot be read .*it takes a list such/,
    ],
    [['--accept', 'text.json', ...bash], /--accept text.json is not JSON/],
    [['--accept', 'list.json', ...bash], /--accept list.json: entry 2 has no owner; it takes/],
    [
      ['--accept', 'day.json', ...bash],
      /day.json: entry 2 has no day such as 2027-03-31 in expires/,
    ],
    [['--accept', 'more.json', ...bash], /more.json: entry 2 has the unknown field by; it/],
    [['--accept', 'object.json', ...bash], /--accept object.json is no list; it takes/],
    [['--date', '2027-02-30', ...bash], /--date takes a day such as/],
    [['--commit', 'a b', '--', 'true'], /--commit takes the ID of a commit/],
    [['--only', 'reset', ...bash], /certify does not take --only/],
    [['--commit', 'x', '--', 'no-such-program'], /program "no-such-program" not found/],
  ] as const) {
    const { code, stderr } = await run(['certify', ...args], { cwd, env: { GIT_DIR: cwd } })
    t.equal(code, 2, `${args.join(' ')}: ${stderr}`)
    t.match(stderr, message)
  }
  const { stderr } = await run(['certify', '--', 'true'], { cwd, env: { GIT_DIR: cwd } })
  t.match(stderr, /certify names the commit of your code, and found none here/)
  t.notOk(existsSync(join(cwd, 'ran')))
})
