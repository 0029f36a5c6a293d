// Node executables: those that npm run binary puts the program into, and those that npm run repeat and npm run bench start.
// They are packages of npm; nodes.json pins their content.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const NODES = JSON.parse(readFileSync(new URL('nodes.json', import.meta.url), 'utf8'))

/** The versions of Node that repeat and bench use. The older ones are not the newest, so that another Node has built dist. */
export const SUPPORTED_NODES = ['20.20.0', '22.23.3', '24.21.0']

const platform = process.platform === 'win32' ? 'win' : process.platform

/** The platform of this machine, as in linux-x64. */
export const HERE = `${platform}-${process.arch}`

/** Node could not be installed, or is not the one that nodes.json names. */
export class NoNode extends Error {
  /** For a page, without what npm says. */
  short = 'this Node could not be installed from npm'
}

// npm adds a stack to some complaints.
const firstLines = (text) => text.trim().split('\n').slice(0, 4).join('\n')

function run(program, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status !== 0)
    throw new NoNode(`${program} ${args.join(' ')} failed: ${firstLines(error?.message ?? stderr)}`)
  return stdout.trim()
}

/** Returns the executable of a version of Node for a platform; installs it with npm if it is not there yet. */
export function installNode(version, root, target = HERE) {
  const name = `${target.startsWith('darwin') ? 'node-bin' : 'node'}-${target}@${version}`
  const expected = NODES[name]
  if (expected === undefined)
    throw new NoNode(
      `scripts/binary/nodes.json has no ${name}; add it with its integrity: npm view ${name} dist.integrity`,
    )
  const folder = join(root, 'node_modules/.cache/payout-sandbox', name)
  const file = join(folder, name.includes('-win-') ? 'bin/node.exe' : 'bin/node')
  if (existsSync(file)) return file
  const temporary = mkdtempSync(join(tmpdir(), 'payout-sandbox-node-'))
  try {
    const packed = run('npm', ['pack', '--loglevel=error', '--prefer-offline', name], temporary)
    const bytes = readFileSync(join(temporary, packed))
    const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
    if (found !== expected)
      throw new NoNode(
        `${name} has the integrity ${found}, and scripts/binary/nodes.json has ${expected}`,
      )
    run('tar', ['-xzf', packed], temporary)
    // Complete or not there, also if this is interrupted.
    const draft = `${folder}.${process.pid}`
    cpSync(join(temporary, 'package'), draft, { recursive: true })
    rmSync(folder, { recursive: true, force: true })
    renameSync(draft, folder)
    return file
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}
