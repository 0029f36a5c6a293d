import { getHeapStatistics } from 'node:v8'

const MIB = 1024 * 1024
const MAX_BYTES = 256 * MIB
// A body needs about five times its size in the heap until its rows are stored; the rest is for the existing state.
const HEAP_SHARE = 8
// Above this share V8 spends its time on garbage collection, and then aborts the process.
const FULL = 0.85

const heapLimit = getHeapStatistics().heap_size_limit

/** The maximum size of any body, bytes: a share of the heap. */
export const MAX_BODY: number = Math.min(MAX_BYTES, Math.floor(heapLimit / HEAP_SHARE))

/** Whether the heap is so full that long work must stop before V8 aborts the process. */
export const isHeapFull = (): boolean => getHeapStatistics().used_heap_size > FULL * heapLimit

const FLAG = /--max[-_]old[-_]space[-_]size[= ](\d+)/g
// Measured: a start uses 16 MiB of the old space, and 1 MiB holds 35 clients with their worlds. Most of that is
// reserved for the data of clients and for calls.
const START_MIB = 20
const CLIENTS_OF_MIB = 7
const MIN_CLIENTS = 8

/** The maximum size of V8's old space, MiB: Node aborts if long-lived objects do not fit into it. */
function oldSpace(): number {
  const flags = [process.env['NODE_OPTIONS'], ...process.execArgv].join(' ')
  const given = [...flags.matchAll(FLAG)].at(-1)
  if (given) return Number(given[1])
  // The limit includes the whole heap; without a flag, the other spaces get less than a tenth of it.
  return (heapLimit / MIB) * 0.9
}

/** The number of clients that fit safely into an old space of `mib` MiB. */
export function maxClientsOfHeap(mib = oldSpace()): number {
  return Math.max(MIN_CLIENTS, Math.floor((mib - START_MIB) * CLIENTS_OF_MIB))
}
