// Programs run to their end, and a program in another root directory.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const MAX_MS = 300_000

/** For a program whose output is to be seen while it runs. */
export const LIVE = { stdio: ['ignore', 'inherit', 'inherit'] }

/**
 * What a program printed on standard output; `input` goes to its standard input.
 * @throws with what it printed on standard error, if it fails or takes 5 minutes
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

/** The ids of a user of an image, by its name in the image's own /etc/passwd; of the root user for an empty name. */
export function idsOf(root, user) {
  const lines = readFileSync(join(root, 'etc/passwd'), 'utf8').split('\n')
  const found = lines.map((line) => line.split(':')).find(([name]) => name === (user || 'root'))
  if (found === undefined) throw new Error(`the image has no user ${user}`)
  return { uid: Number(found[2]), gid: Number(found[3]) }
}

/** The words that run a program in a root directory as a user of it, with that environment and no other. */
export function wordsAs({ root, user, env, cwd }, command) {
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

/** Runs a program so to its end; its output is seen. */
export function runAs(place, command) {
  const [program, ...args] = wordsAs(place, command)
  run(program, args, LIVE)
}
