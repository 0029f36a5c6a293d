import { type Disk, nodeDisk } from '../../src/store/disk.ts'

export type Errno = 'ENOSPC' | 'EIO' | 'EACCES' | 'EROFS' | 'EMFILE' | 'EDQUOT'

/** Which calls fail: `count` of them, starting at this number, counted from 1. */
export type Fault = { from: number; calls: number; errno: Errno }

type Call = (...args: unknown[]) => unknown

// No power is cut here: what need not be waited for is not.
const SYNCS: ReadonlySet<string> = new Set(['fsync', 'fsyncSync', 'fdatasyncSync'])
const ASYNC: ReadonlySet<string> = new Set(['fsync', 'writeFile'])

/** The real file system, in which chosen calls fail; a write first takes half. */
export function faultyDisk() {
  const state = { count: 0, fault: undefined as Fault | undefined, failed: [] as string[] }
  /** Whether this call is to fail. */
  function fails(name: string): Error | undefined {
    state.count++
    const { fault } = state
    if (!fault || state.count < fault.from || state.count >= fault.from + fault.calls) return
    state.failed.push(name)
    const { errno } = fault
    const message = `${errno}: put here by the test, ${name}`
    return Object.assign(new Error(message), { code: errno, syscall: name })
  }
  const real = nodeDisk as unknown as Record<string, Call>
  function writeHalf(fd: unknown, content: unknown) {
    const bytes = Buffer.from(content as Buffer)
    nodeDisk.writeFileSync(fd as number, bytes.subarray(0, bytes.length / 2))
  }
  function wrapped(name: string): Call {
    const call = real[name]!
    return (...args) => {
      const error = fails(name)
      if (error && name.startsWith('writeFile')) writeHalf(args[0], args[1])
      if (ASYNC.has(name)) {
        const done = args.at(-1) as (error: Error | null) => void
        if (error || SYNCS.has(name)) setImmediate(done, error ?? null)
        else call(...args)
        return
      }
      if (error && name === 'closeSync') call(...args)
      if (error) throw error
      return SYNCS.has(name) ? undefined : call(...args)
    }
  }
  const disk = Object.fromEntries(Object.keys(NAMES).map((name) => [name, wrapped(name)]))
  return { disk: disk as unknown as Disk, state }
}

/** Every call of a `Disk`. */
const NAMES: { [K in keyof Disk]: true } = {
  chmodSync: true,
  closeSync: true,
  copyFileSync: true,
  fdatasyncSync: true,
  fsync: true,
  fstatSync: true,
  fsyncSync: true,
  ftruncateSync: true,
  linkSync: true,
  lstatSync: true,
  mkdirSync: true,
  openSync: true,
  readFileSync: true,
  readlinkSync: true,
  renameSync: true,
  statSync: true,
  unlinkSync: true,
  writeFile: true,
  writeFileSync: true,
}
