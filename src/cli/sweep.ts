import type { Command } from './command.ts'
import { SANDBOX_FLAGS } from './options.ts'

const SWEEP_FLAGS: Command['flags'] = {
  points: [
    'first|first-last|all',
    'calls and events of each kind that get faults: the first; the first, the second and the last, and each payment for a broken connection; or all (default: first-last)',
  ],
  only: [
    'WORD,...',
    'only faults of these kinds, names, operations or events, such as webhook,createTransaction & unavailable; money for a first look',
  ],
  except: ['WORD,...', 'leave out these faults'],
  depth: [
    '1|2',
    'how many faults happen together; 1 has pairs too, for what follows a lost response (default: 1)',
  ],
  'max-time': [
    'DURATION',
    'start no further plan after this real time; those with the most money at risk come first (default: 3m)',
  ],
  'max-runs': ['N', 'maximum number of runs, without the baseline and the repeats of findings'],
  jobs: [
    'N',
    'how many runs happen at the same time; their files, ports and databases must differ (default: 2, and up to 8 while the machine is idle; 1 with --port)',
  ],
  url: [
    'URL',
    'sweep a sandbox that already runs, in its client after /@ (default: sweep), which each run resets; one run at a time',
  ],
  workers: [
    'N',
    'how many workers the program can run as at once, up to 4: starts it so often against one sandbox, and lets their calls meet (default: 1; config: workers)',
  ],
  restart: ['', 'also kill the program during calls that change something, and start it again'],
  timeout: [
    'DURATION',
    'real time that a run may take (default: ten times as long as without faults, at least 30s, or 75s if a call gets no response)',
  ],
  unstable: ['', 'continue although two runs without faults made different calls'],
  ledger: [
    'CMD',
    'shell command that prints your books of a run as CSV, as reconcile reads it; its folder is in PAYOUT_SANDBOX_RUN_DIR',
  ],
  probe: [
    'URL|CMD',
    'URL or shell command that returns your program’s view of a payment; contains {transaction_id}',
  ],
  'max-retries': [
    'N',
    'how many equal calls of one payment may come within a second (default: 20)',
  ],
  report: ['DIR', 'folder for the report; files of an earlier report are replaced'],
  baseline: ['FILE', 'sweep.json of an earlier sweep; its findings do not fail this one'],
  plan: ['', 'run the program without faults only, and print the runs that would follow, and why'],
  holdout: [
    'SEED',
    'report a third of the faults, which this seed chooses, as a score alone, and seal their names',
  ],
  reveal: ['FILE', 'run nothing; print what a sweep.json of the same --holdout has sealed'],
  json: ['', 'print the result as one line of JSON'],
}

export const sweep: Command = {
  name: 'sweep',
  isTool: true,
  summary: 'run a program under all that the contract permits, and report what breaks',
  usage: [
    [
      'sweep [OPTIONS] -- CMD...',
      'rerun CMD with another fault each time, and judge what the sandbox saw; exit 1 on an error',
    ],
  ],
  flags: {
    ...SWEEP_FLAGS,
    ...SANDBOX_FLAGS,
    port: ['N', 'port of the sandbox of each run, one at a time (default: a free one)'],
  },
  examples: [
    'sweep -- npm test',
    'sweep --clock frozen --jobs 2 --report sweep-report -- node --test',
    'sweep --depth 2 --max-time 10m --baseline sweep-report/sweep.json -- npm test',
    'sweep --ledger ./books.sh -- ./start-workers.sh',
    'sweep --probe http://localhost:3000/payments/{transaction_id} -- npm test',
  ],
  takesProgram: true,
  async run(input) {
    const { printSweep, sealedText, sweepPlan, untilSignal } = await import('./sweep-run.ts')
    if (input.flags['reveal'] !== undefined) return sealedText(input)
    return untilSignal<string | number>((signal) =>
      input.flags['plan'] ? sweepPlan(input, signal) : printSweep(input, signal),
    )
  },
}
