import { getHeapStatistics } from 'node:v8'

const MIB = 1024 * 1024
const MAX_BYTES = 256 * MIB
// A body needs about five times its size in the heap until its rows are stored; the rest is for what is there already.
const HEAP_SHARE = 8
// From here on V8 spends its time on collecting garbage, and then ends the process.
const FULL = 0.85

const heapLimit = getHeapStatistics().heap_size_limit

/** The largest body that is taken at all, bytes: a share of the heap. */
export const MAX_BODY: number = Math.min(MAX_BYTES, Math.floor(heapLimit / HEAP_SHARE))

/** Whether so little of the heap is left that long work must end before it ends the process. */
export const isHeapFull = (): boolean => getHeapStatistics().used_heap_size > FULL * heapLimit

const FLAG = /--max[-_]old[-_]space[-_]size[= ](\d+)/g
// Measured: a start leaves all but 16 MiB of the old space free, and a MiB holds 14 clients that were made by a first
// call. Half of that is for what clients keep and what calls need.
const START_MIB = 20
const CLIENTS_OF_MIB = 7
const MIN_CLIENTS = 8

/** How large V8's old space may get, in MiB: Node aborts where what lives long does not fit into it. */
function oldSpace(): number {
  const flags = [process.env['NODE_OPTIONS'], ...process.execArgv].join(' ')
  const given = [...flags.matchAll(FLAG)].at(-1)
  if (given) return Number(given[1])
  // The limit is that of the whole heap; without a flag, a tenth is more than its other spaces get.
  return (heapLimit / MIB) * 0.9
}

/** How many clients an old space of so many MiB holds safely. */
export function maxClientsOfHeap(mib = oldSpace()): number {
  return Math.max(MIN_CLIENTS, Math.floor((mib - START_MIB) * CLIENTS_OF_MIB))
}
