// Runs programs, also in another root directory.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const MAX_MS = 300_000

/** Options that show the output of a program while it runs. */
export const LIVE = { stdio: ['ignore', 'inherit', 'inherit'] }

/**
 * Runs a program with `input` as its standard input. Returns its standard output.
 * @throws with its output, if it fails or takes longer than 5 minutes
 */
export function run(command, args, { input, ...options } = {}) {
  const { status, signal, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: MAX_MS,
    maxBuffer: 64 << 20,
    input: input ?? '',
    ...options,
  })
  if (error !== undefined) throw error
  if (status !== 0)
    throw new Error(
      `${command} ${args.join(' ')} ended with ${status ?? signal}\n${stdout ?? ''}\n${stderr ?? ''}`,
    )
  return stdout
}

/** Reads the ids of a user from the image's /etc/passwd; an empty name means root. */
export function idsOf(root, user) {
  const lines = readFileSync(join(root, 'etc/passwd'), 'utf8').split('\n')
  const found = lines.map((line) => line.split(':')).find(([name]) => name === (user || 'root'))
  if (found === undefined) throw new Error(`the image has no user ${user}`)
  return { uid: Number(found[2]), gid: Number(found[3]) }
}

/** The command line that runs a program in a root directory, as one of its users and with only the given environment. */
export function commandAs({ root, user, env, cwd }, command) {
  const { uid, gid } = idsOf(root, user)
  return [
    'chroot',
    `--userspec=${uid}:${gid}`,
    '--groups=',
    root,
    'env',
    '-i',
    '-C',
    cwd,
    ...env,
    ...command,
  ]
}

/** Runs a program in a root directory and shows its output. */
export function runAs(target, command) {
  const [program, ...args] = commandAs(target, command)
  run(program, args, LIVE)
}
