import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { SweepDocument } from '../../../src/tools/sweep/report/sweep-json.ts'
import { PROGRAM, run, spawned } from '../../cli/program.ts'
import { freePort } from '../../listening.ts'
import { smallClient } from './small-client.ts'

/** A client, and the sweep of it on the command line. */
function client(t: Test, code: string) {
  const { cwd, program, read } = smallClient(t, code)
  return sweepOf(program, cwd, read)
}

/** The same for a client that runs often. */
async function lightClient(t: Test, code: string) {
  const { cwd, command, read } = smallClient(t, code)
  return sweepOf(await command(), cwd, read)
}

function sweepOf(program: readonly string[], cwd: string, read: (name: string) => string) {
  const head = ['sweep', '--clock', 'frozen']
  const argumentsOf = (options: readonly string[]) => [...head, ...options, '--', ...program]
  return {
    cwd,
    program,
    read,
    start: (...options: string[]) => spawned(argumentsOf(options), { cwd }),
    text: (...options: string[]) => run(argumentsOf(options), { cwd }),
    async sweep(...options: string[]) {
      const { code: exit, stdout, stderr } = await run(argumentsOf(['--json', ...options]), { cwd })
      return { exit, stderr, result: (stdout ? JSON.parse(stdout) : undefined) as SweepDocument }
    },
  }
}

const LOOKS = "await call('GET', '/users')\n"
const LOOKS_THREE_TIMES = LOOKS.repeat(3)

t.test('a finding on the command line: table, report, baseline, and the run again', async (t) => {
  const { sweep, text, cwd, read, program } = await lightClient(t, 'await patiently(pay)\n')
  const only = ['--only', 'reset_after,truncate_after,reset']
  const shown = await text(...only, '--report', 'report')
  t.equal(shown.code, 1, shown.stderr)
  t.match(shown.stdout, /^3 runs: 1 passed, 2 paid_twice$/m)
  t.match(shown.stdout, /^finding-1 +error +paid_twice +A payment of 4321.09 was made twice/m)
  t.match(shown.stdout, /The 1st POST .* its response gets lost\.\s+The same if it is carried/)
  t.match(shown.stdout, /^What this does not prove:\n {2}/m)
  const document: SweepDocument = JSON.parse(read('report/sweep.json'))
  t.equal(document.findings.length, 1)
  const line = `exec --clock frozen --scenarios report --scenario finding-1 -- ${program.join(' ')}`
  t.equal(document.findings[0]!.reproduce, `payout-sandbox ${line}`)
  t.equal((await run([...line.split(' ')], { cwd })).code, 0)

  const known = await sweep(...only, '--baseline', 'report/sweep.json')
  t.equal(known.exit, 0, 'its findings are known')
  t.equal(known.result.findings.length, 1)
  const [{ plan }] = document.findings as [SweepDocument['findings'][number]]
  writeFileSync(join(cwd, 'other.json'), JSON.stringify({ findings: [{ verdict: 'hung', plan }] }))
  t.equal((await sweep('--only', 'reset_after', '--baseline', 'other.json')).exit, 1)
})

t.test(
  '--points, --only, --except, --max-runs, --depth and --max-time choose the runs',
  async (t) => {
    const { sweep, text } = await lightClient(t, LOOKS_THREE_TIMES + LOOKS)
    const runs = async (...options: string[]) =>
      (await sweep('--jobs', '4', ...options)).result.runs.length
    t.equal(await runs('--only', 'reset'), 3)
    t.equal(await runs('--only', 'reset', '--points', 'first'), 1)
    t.equal(await runs('--only', 'reset', '--points', 'all'), 4)
    t.equal(await runs('--only', 'reset,respond_500', '--points', 'first'), 2)
    t.equal(await runs('--only', 'call', '--max-runs', '2'), 2)
    const some = await text('--only', 'reset, respond_500', '--max-runs', '2')
    t.match(some.stdout, /^2 runs: 2 failed_safely \(not all: 2 of 6 plans were run\)$/m)
    const { result } = await sweep('--only', 'reset', '--max-runs', '1', '--depth', '2')
    t.equal(result.runs.length, 1)
    t.equal(result.untried.length, 2)
    t.equal(await runs('--only', 'reset & GET /users, respond_500', '--except', 'respond_500'), 3)
    t.match((await text('--only', 'money')).stderr, /--only money selects no fault/)
    // The four runs that failed_safely make pairs, of which none is at the same point.
    t.equal(await runs('--only', 'reset', '--depth', '2'), 3 + 3)
    const short = await text('--max-time', '1ms')
    t.match(short.stdout + short.stderr, /\(not all: \d+ of|no run with a fault was started/)
    const unknown = await text('--only', 'rest')
    t.equal(unknown.code, 2)
    t.match(unknown.stderr, /--only: no kind, .* is called "rest"; did you mean "reset"\?/)
    const absent = await text('--only', 'webhook,createUser')
    t.equal(absent.code, 2)
    t.match((await text('--only', 'two_workers')).stderr, /selects no fault .* Add --workers 2/)
    t.match(absent.stderr, /--only webhook,createUser selects no fault .* of .*\bcall, listUsers/)
  },
)

t.test('--plan lists the runs with reasons, in the order of a sweep, and makes none', async (t) => {
  const { sweep, text, read } = await lightClient(
    t,
    `appendFileSync(here + '/ran', 'x')\n${LOOKS_THREE_TIMES}`,
  )
  const planOf = async (...options: string[]) => {
    const { code, stdout, stderr } = await text('--plan', '--json', '--jobs', '2', ...options)
    t.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  for (const [options, runs, left_out, hanging, why] of [
    ['--only reset', 3, 0, 0, null],
    ['--only reset --max-runs 2', 3, 1, 0, '--max-runs is 2'],
    ['--only reset,hang_after --max-time 1ms', 6, 5, 3, '--max-time ends after 1ms'],
  ] as const) {
    const plan = await planOf(...options.split(' '))
    t.match(plan, { runs, left_out, plans: { length: runs } }, options)
    t.equal(plan.plans.at(-1).left_out, why)
    t.equal(plan.minutes.most - plan.minutes.least >= (hanging * 30) / 60 / 2 - 0.1, true)
  }
  t.equal(read('ran').length, 3 * 2, 'only runs without faults')
  const { plans } = await planOf('--points', 'first')
  const { result } = await sweep('--points', 'first', '--max-runs', '8', '--jobs', '1')
  const ran = result.runs.map(({ plan }) => plan.map(({ what }) => what).join(', and '))
  t.strictSame(
    ran,
    plans.slice(0, 8).map(({ what }: { what: string }) => what),
  )
  const shown = await text('--plan', '--only', 'reset,limit_parameter')
  t.match(shown.stdout, /^\d+ runs, about 0.\d min for all of them: [\d.]+ s each, 2 or more at a/m)
  const words = shown.stdout.replace(/\n +/g, ' ')
  t.match(
    words,
    /^\d +The connection of the 2nd GET \/users is .* Why: your command reads this\.$/m,
  )
  t.match(words, /limit_parameter=\w+\)\. Why: the contract leaves this open for 3 calls and/)
  t.notMatch(shown.stdout, /^.{101}/m)
  t.match(
    (await text('--plan', '--report', 'r')).stderr,
    /--plan runs no fault, so it excludes --report/,
  )
})

t.test('--holdout seals a third of the faults, and --reveal opens it with the seed', async (t) => {
  const { cwd, text, sweep, read } = await lightClient(t, 'await patiently(pay)\n')
  const only = ['--only', 'createTransaction', '--points', 'first', '--jobs', '4']
  const { runs, untried, pruned } = (await sweep(...only)).result
  const planned = [...[...runs, ...pruned].map(({ plan }) => plan), ...untried]
  const namesOf = (found: readonly { plan: readonly { name: string }[] }[]) =>
    new Set(found.flatMap(({ plan }) => plan.map(({ name }) => name)))
  const open = async (seed: string) => {
    const args = ['sweep', '--reveal', 'report/sweep.json', '--holdout', seed]
    const { code, stdout, stderr } = await run([...args, '--json'], { cwd })
    return code === 0 ? JSON.parse(stdout) : stderr
  }
  const chosen = new Set<string>()
  for (const seed of ['first', '2']) {
    const shown = await text(...only, '--holdout', seed, '--report', 'report')
    const report: SweepDocument = JSON.parse(read('report/sweep.json'))
    const { faults: held, findings } = await open(seed)
    const faults = held.map(({ name }: { name: string }) => name)
    chosen.add(String(faults))
    t.equal(shown.code, 1, shown.stderr)
    t.equal(shown.stderr.includes('This replaces the report in report\n'), chosen.size === 2)
    // All runs are in one of the two scores; only findings outside of the third are named.
    const { classes, not_reached, untried, sha256, verdicts } = report.holdout!
    const [all] = classes.slice(-1)
    const counts = [all!.shown.runs, all!.held_out.runs, not_reached, untried]
    t.equal(
      counts.reduce((a, b) => a + b),
      planned.length,
    )
    t.ok(all!.shown.runs > all!.held_out.runs && all!.held_out.runs > 0)
    const wrong = runs.filter(({ finding }) => finding !== null)
    const broken = [...namesOf(wrong)].filter((name) => !faults.includes(name))
    t.strictSame([...namesOf(report.runs)].sort(), broken.sort(), 'what passed is not named')
    t.strictSame(
      verdicts,
      [...new Set(findings.map((one: { verdict: string }) => one.verdict))].sort(),
    )
    const written = ['sweep.json', 'report.html', 'summary.md', 'junit.xml'].map((name) =>
      read(`report/${name}`),
    )
    for (const place of [...written, shown.stdout, shown.stderr])
      for (const { name, what } of planned.flat())
        if (!broken.includes(name)) t.notOk(place.includes(what), what)
    t.match(shown.stdout, sha256)
    t.match(await open('other'), /--holdout is not the seed of report\/sweep.json; use the one/)
  }
  t.equal(chosen.size, 2, 'the seed chooses')
  const few = await text('--only', 'reset', '--holdout', 'first')
  t.match(few.stderr, /--holdout takes a third of the faults of each kind, and there are too few/)
})

t.test('a report that cannot be written is an error before any run', async (t) => {
  const { text, cwd } = client(t, "appendFileSync(here + '/ran', 'x')\n")
  writeFileSync(join(cwd, 'file'), '')
  for (const folder of ['file', 'file/below']) {
    const { code: exit, stderr } = await text('--report', folder)
    t.equal(exit, 2)
    t.match(stderr, `--report ${folder} cannot be written (ENOTDIR); name a folder, or a new one`)
  }
  mkdirSync(join(cwd, 'report'))
  writeFileSync(join(cwd, 'report/summary.md'), '# mine\n')
  const refused = await text('--report', 'report')
  t.equal(refused.code, 2)
  t.match(refused.stderr, 'no sweep wrote report/summary.md. Move it away, or name another')
  t.notOk(existsSync(join(cwd, 'ran')))
})

const hasBash = spawnSync('bash', ['-c', 'true']).status === 0

t.test(
  'the line that shows a finding again keeps each word of the program',
  { skip: !hasBash && 'no bash on the PATH' },
  async (t) => {
    const { cwd, program } = smallClient(t, 'await patiently(pay)\n')
    const script = `true\nif [ "$2" = "it's" ]; then exec "$3" "$4"; else exit 9; fi`
    const words = ['sh', '-c', script, 'x', '--token', "it's", ...program]
    const sweep = ['sweep', '--clock', 'frozen', '--only', 'reset_after', '--report', 'report']
    const { code, stderr } = await run([...sweep, '--', ...words], { cwd })
    t.equal(code, 1, stderr)
    const document: SweepDocument = JSON.parse(readFileSync(join(cwd, 'report/sweep.json'), 'utf8'))
    const { reproduce } = document.findings[0]!
    const line = reproduce.replace('payout-sandbox', PROGRAM.map((word) => `'${word}'`).join(' '))
    const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
    const again = spawnSync('bash', ['-c', line], { cwd, env, encoding: 'utf8' })
    t.equal(again.status, 0, `${line}\n${again.stderr}`)
  },
)

t.test('--timeout, --max-retries, --probe, --ledger and --unstable', async (t) => {
  const slow = client(t, 'await pay(0)\n')
  const hung = await slow.sweep('--only', 'hang_after', '--timeout', '2s')
  t.strictSame(hung.result.verdicts, { hung: 1 })
  const storm = await lightClient(t, 'await patiently(pay)\n')
  const probe = 'echo success {transaction_id} | cut -c 1-7'
  const wrong = await storm.sweep('--only', 'payment_failed', '--probe', probe)
  t.equal(wrong.exit, 1, wrong.stderr)
  t.strictSame(wrong.result.verdicts, { wrong_state: 1 })
  const books = await lightClient(
    t,
    "await pay()\nwriteFileSync(folder + '/books', 'transaction_id,amount\\n' + (await find()).transaction_id + ',' + AMOUNT)\n",
  )
  const ledger = ['--ledger', 'cat "$PAYOUT_SANDBOX_RUN_DIR/books"']
  const booked = await books.text('--only', 'payment_failed', ...ledger, '--report', 'report')
  t.equal(booked.code, 1, booked.stderr)
  t.match(booked.stdout, /^1 run: 1 wrong_books$/m)
  const unread = await books.text('--ledger', 'true')
  t.equal(unread.code, 2)
  t.match(unread.stderr, /^payout-sandbox: the ledger gave no books: true printed nothing\./m)

  const hammer = await lightClient(
    t,
    'for (let made; !made; ) made = await pay().catch(() => undefined)\n',
  )
  // 401 asks for no pause, so only the number of calls counts: one that passes after eight that fail.
  const retries = ['--only', 'token_expired', '--max-retries']
  t.strictSame((await hammer.sweep(...retries, '7')).result.verdicts, { retry_storm: 1 })
  t.strictSame((await hammer.sweep(...retries, '8')).result.verdicts, { passed: 1 })

  const unstable = client(
    t,
    `const isSecond = existsSync(here + '/ran')
writeFileSync(here + '/ran', '')
if (isSecond) await pay()
await call('GET', '/users')
`,
  )
  const went = await unstable.sweep(
    ...['--unstable', '--jobs', '1'],
    ...['--only', 'listUsers', '--max-runs', '1'],
  )
  t.equal(went.exit, 0, went.stderr)
  t.equal(went.result.runs.length, 1)
})

t.test('--restart kills the command, and --port gives each run the same address', async (t) => {
  const port = await freePort()
  const { sweep } = client(
    t,
    `if (new URL(url).port !== '${port}') throw new Error('another port: ' + url)
await pay()
`,
  )
  const { exit, stderr, result } = await sweep('--port', `${port}`, '--only', 'kill', '--restart')
  t.equal(exit, 1, stderr)
  t.strictSame(result.verdicts, { paid_twice: 1 })
  const again = `sweep --clock frozen --port ${port} --restart --only 'kill & createTransaction' -- `
  t.match(result.findings[0]!.reproduce, again, 'only a sweep starts it again')
})

t.test('two runs without faults that differ stop the sweep', async (t) => {
  const { sweep } = client(
    t,
    `if (existsSync(here + '/ran')) await pay()
writeFileSync(here + '/ran', '')
await call('GET', '/users')
`,
  )
  // One after the other, so that the second run is the one that pays.
  const { exit, stderr } = await sweep('--jobs', '1')
  t.equal(exit, 2)
  t.match(
    stderr,
    /createTransaction with 20\d: 0 in the first run, 1 in the second[\s\S]*--unstable/,
  )
})

for (const [signal, exit] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  t.test(`${signal} reports what is known, and ends the program`, async (t) => {
    const { cwd, start, read } = client(
      t,
      `appendFileSync(here + '/pids', process.pid + '\\n')
if (readFileSync(here + '/pids', 'utf8').split('\\n').length === 5) await new Promise((resolve) => setTimeout(resolve, 60_000))
await pay().catch(pay)
`,
    )
    const running = start('--json', '--jobs', '1', '--only', 'reset_after,respond_504_after')
    const pids = () => (existsSync(join(cwd, 'pids')) ? read('pids').trim().split('\n') : [])
    for (let n = 0; n < 600 && pids().length < 4; n++) await wait(50)
    running.child.kill(signal)
    const { code, stdout } = await running.ended
    t.equal(code, exit)
    const { runs, findings, flaky, not_proven } = JSON.parse(stdout) as SweepDocument
    t.equal(runs.length, 1)
    t.match(findings, [{ verdict: 'paid_twice', happened: / too much \(not rerun\)$/ }])
    t.strictSame(flaky, [])
    t.match(not_proven.join(), 'The sweep was stopped early')
    t.throws(() => process.kill(Number(pids()[3]), 0), 'the program that ran is gone')
  })

t.test('a sweep says what is wrong, and what to do', async (t) => {
  const failing = await client(t, "throw new Error('no luck')\n").sweep()
  t.equal(failing.exit, 2)
  t.match(failing.stderr, /fails without any fault \(exit code 1\)[\s\S]*no luck/)
  const silent = await client(t, '').sweep()
  t.equal(silent.exit, 2)
  t.match(
    silent.stderr,
    /made no call; let it use the address in the variable PAYOUT_SANDBOX_URL, as startSandbox/,
  )
  for (const [args, message] of [
    [[], /sweep needs a program after --/],
    [['--points', 'some', '--', 'true'], /--points takes first-last or first or all, not "some"/],
    [['--depth', '3', '--', 'true'], /--depth takes 1 or 2, not "3"/],
    [['--max-time', 'soon', '--', 'true'], /--max-time takes a duration/],
    [['--port', '4391', '--jobs', '2', '--', 'true'], /--port permits one run at a time/],
    [['--jobs', '0', '--', 'true'], /--jobs takes a whole number from 1 to 64/],
    [['--probe', 'http://localhost', '--', 'true'], /--probe takes a URL or a command with/],
    [['--ledger', ' ', '--', 'true'], /--ledger takes a shell command that prints your books/],
    [
      ['--baseline', 'missing.json', '--', 'true'],
      /--baseline missing.json cannot be read \(ENOENT\)/,
    ],
    [['--holdout', 'a b', '--', 'true'], /--holdout takes a seed of up to 100 visible/],
    [['--reveal', 'x.json'], /--reveal takes the seed, and no program/],
    [['--reveal', 'x.json', '--only', 'money'], /--reveal runs nothing, so it excludes --only/],
    [['--reveal', 'tsconfig.json', '--holdout', 'a'], /tsconfig.json has nothing sealed; use the/],
    [['--data', 'x.json', '--', 'true'], /sweep does not take --data/],
    [['--scenario', 'nothing', '--', 'true'], /there is no scenario "nothing"/],
    [['--', 'no-such-program'], /program "no-such-program" not found/],
  ] as const) {
    const { code, stderr } = await run(['sweep', ...args])
    t.equal(code, 2, args.join(' '))
    t.match(stderr, message)
  }
})
