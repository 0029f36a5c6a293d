import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { run } from './program.ts'

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0
const skipWithout = (shell: string) => !isInstalled(shell) && `no ${shell} on the PATH`

/** Saves the script of a shell, and returns a function that runs lines after it. */
async function shellOf(t: Test, shell: string, ...options: string[]) {
  const dir = t.testdir({ 'own.json': '' })
  const script = join(dir, 'script')
  const { code, stdout, stderr } = await run(['completion', shell])
  t.equal(code, 0, stderr)
  writeFileSync(script, stdout)
  return (lines: string, ...words: string[]) => {
    const file = join(dir, 'lines')
    writeFileSync(file, lines.replace('SCRIPT', script))
    const done = spawnSync(shell, [...options, file, ...words], { cwd: dir, encoding: 'utf8' })
    t.equal(done.stderr, '')
    return done.stdout.trim().split(/\s*\n/)
  }
}

const BASH = `source SCRIPT
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_payout_sandbox
printf '%s\\n' "\${COMPREPLY[@]}"
`

/** Each line up to its last word, what is offered, and a word that must not be. */
const LINES: readonly (readonly [line: string[], offered: string[], other: string])[] = [
  [['clo'], ['clock'], 'start'],
  [['clock', 'ad'], ['advance'], 'next'],
  [['--clock', ''], ['real', 'frozen'], '--port'],
  [['exec', '--log-level', 'd'], ['debug'], 'info'],
  [['--dat'], ['--data'], '--fsync'],
  [['health', '--cl'], ['--client'], '--clock'],
  [['replay', 'ow'], ['own.json'], '--json'],
  [['exec', '--data', 'ow'], ['own.json'], '--json'],
  [['exec', '--', 'slee'], ['sleep'], '--clock'],
  [['help', 'clo'], ['clock'], 'start'],
  [['scenario', 'use', ''], [], 'show'],
  [['assumptions', 'set', ''], [], 'list'],
  [['completion', ''], ['bash', 'zsh', 'fish'], 'start'],
]

t.test(
  'bash completes commands, options and their values',
  { skip: skipWithout('bash') },
  async (t) => {
    const ask = await shellOf(t, 'bash', '--norc')
    for (const [line, offered, other] of LINES) {
      const found = ask(BASH, 'payout-sandbox', ...line)
      t.match(new Set(found), new Set(offered), line.join(' '))
      t.notOk(found.includes(other), `${line.join(' ')} does not offer ${other}`)
    }
    t.strictSame(ask(BASH, 'payout-sandbox', '--log-level', '=', 'd'), ['debug'])
  },
)

t.test('fish completes them with a description', { skip: skipWithout('fish') }, async (t) => {
  const ask = await shellOf(t, 'fish')
  for (const [line, offered, other] of LINES) {
    const found = ask('source SCRIPT\ncomplete -C "$argv"\n', 'payout-sandbox', ...line)
    const words = found.map((text) => text.split('\t')[0]!)
    for (const word of offered) t.ok(words.includes(word), `${line.join(' ')} offers ${word}`)
    t.notOk(words.includes(other), `${line.join(' ')} does not offer ${other}`)
  }
  t.match(ask('source SCRIPT\ncomplete -C "payout-sandbox clo"\n')[0], /^clock\tshow and move/)
})

// The functions of zsh's completion system say what they got.
const ZSH = `compdef() { }
_arguments() { print -l -- "$@" }
_describe() { print -l -- \${(P)2} }
_normal() { print program $words }
source SCRIPT
words=("$@") CURRENT=$#
_payout_sandbox
`

t.test(
  'zsh gets the commands, words and options of each command',
  { skip: skipWithout('zsh') },
  async (t) => {
    const ask = await shellOf(t, 'zsh', '-f')
    t.match(ask(ZSH, 'payout-sandbox', 'cl')[0], /^start:start a sandbox/)
    const clock = ask(ZSH, 'payout-sandbox', 'clock', 'ad')
    t.equal(clock[0], '1:word:(show advance next freeze resume speed)')
    const start = ask(ZSH, 'payout-sandbox', '--clock', '')
    t.ok(start.some((line) => /^\*--clock\[initial clock.*\]:value:\(real frozen\)$/.test(line)))
    t.ok(start.some((line) => /^\*--data\[.*\]:value:_files$/.test(line)))
    t.ok(
      start.some((line) => /^\*--fsync\[[^\]]*\]$/.test(line)),
      'a switch has no value',
    )
    t.strictSame(ask(ZSH, 'payout-sandbox', 'exec', '--', 'ls', 'x'), ['program ls x'])
  },
)

t.test('another shell is an error', async (t) => {
  const { code, stderr } = await run(['completion', 'tcsh'])
  t.equal(code, 2)
  t.match(stderr, 'completion takes bash, zsh, fish, not "tcsh"')
})
