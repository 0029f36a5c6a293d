// Packs the built program and installs it into a folder, without a network.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const MAX_MS = 60_000

function npm(args, cwd) {
  const { status, stdout, stderr, error } = spawnSync('npm', args, {
    cwd,
    encoding: 'utf8',
    timeout: MAX_MS,
    maxBuffer: 64 << 20,
    shell: process.platform === 'win32',
  })
  if (status !== 0)
    throw new Error(`npm ${args.join(' ')} failed: ${error?.message ?? `${stdout}${stderr}`}`)
  return stdout
}

/** Installs the package of this folder into `home` as a user does. Answers where, and its sizes in bytes. */
export function installPackage(home) {
  // A package.json, so that npm does not install into a parent folder.
  writeFileSync(join(home, 'package.json'), '{ "name": "user", "private": true }')
  const pack = ['pack', '--ignore-scripts', '--json', '--loglevel=error']
  const packed = npm([...pack, '--pack-destination', home], root)
  const [{ filename, size, unpackedSize }] = JSON.parse(packed)
  const quietly = ['--offline', '--no-audit', '--no-fund', '--loglevel=error']
  npm(['install', ...quietly, join(home, filename)], home)
  return { installed: join(home, 'node_modules/payout-sandbox'), size, unpackedSize }
}
