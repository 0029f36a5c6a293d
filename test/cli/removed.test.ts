import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { REMOVED_COMMANDS, REMOVED_OPTIONS, variableOf } from '../../src/config/options.ts'
import { type SandboxOptions, startSandbox } from '../../src/index.ts'
import { run } from './program.ts'

t.test('a removed command says what to use', async (t) => {
  for (const [name, instead] of Object.entries(REMOVED_COMMANDS))
    for (const words of [[name], [name, 'x', '--json'], [name, '--help'], ['help', name]]) {
      const { code, stdout, stderr } = await run(words)
      t.equal(stderr, `payout-sandbox: the command ${name} was removed; ${instead}\n`)
      t.match({ code, stdout }, { code: 2, stdout: '' }, words.join(' '))
    }
})

t.test('a removed option says what to use, wherever it is given', async (t) => {
  const cwd = t.testdir()
  for (const [name, instead] of Object.entries(REMOVED_OPTIONS)) {
    const check = async (label: string, args: string[], env: Record<string, string> = {}) => {
      const { code, stdout, stderr } = await run(args, { cwd, env })
      t.equal(stderr, `payout-sandbox: ${label} was removed; ${instead}\n`)
      t.match({ code, stdout }, { code: 2, stdout: '' }, args.join(' '))
    }
    const flag = `--${name}`
    for (const words of [[flag], [`${flag}=x`], [flag, 'x']]) {
      await check(flag, words)
      await check(flag, ['start', '--memory', ...words])
      await check(flag, ['exec', ...words, '--', 'true'])
    }
    const variable = variableOf(name)
    for (const args of [[], ['exec', '--', 'true'], ['health']])
      await check(variable, args, { [variable]: 'x' })
    const key = name.replaceAll('-', '_')
    const file = 'payout-sandbox.config.json'
    writeFileSync(join(cwd, file), JSON.stringify({ [key]: true }))
    await check(`${key} of ${file}`, [])
    writeFileSync(join(cwd, file), '{}')
    const ofLibrary = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
    const options = { [ofLibrary]: 'x' } as SandboxOptions
    await t.rejects(startSandbox(options), { message: `${ofLibrary} was removed; ${instead}` })
  }
})
