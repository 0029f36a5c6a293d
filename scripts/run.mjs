// What the scripts share: the project's folder, folders that are removed when a script ends, and programs that have to succeed.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..')

export function temporaryFolder(name) {
  const folder = mkdtempSync(join(tmpdir(), `payout-sandbox-${name}-`))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Runs a program, and returns what it prints. */
export function run(program, args, options) {
  const shell = process.platform === 'win32' && program === 'npm'
  const how = { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20, shell, ...options }
  const { status, error, stdout, stderr } = spawnSync(program, args, how)
  if (status !== 0)
    throw new Error(
      `${program} ${args.join(' ')} failed: ${error?.message ?? `${stdout ?? ''}${stderr ?? ''}`}`,
    )
  return stdout?.trim()
}

/** Installs packages of npm into a new folder, without their install scripts. */
export function installPackages(cwd, packages) {
  writeFileSync(join(cwd, 'package.json'), '{ "private": true, "type": "module" }')
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  run('npm', [...words, ...packages], { cwd, timeout: 300_000 })
}
