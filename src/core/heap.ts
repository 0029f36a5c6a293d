import { getHeapStatistics } from 'node:v8'

const MIB = 1024 * 1024
const MOST_BYTES = 256 * MIB
// A body needs about five times its size in the heap until its rows are stored; the rest is for what is there already.
const HEAP_SHARE = 8
// From here on V8 spends its time on collecting garbage, and then ends the process.
const FULL = 0.85

const heapLimit = getHeapStatistics().heap_size_limit

/** The largest body that is taken at all, bytes: a share of the heap. */
export const LARGEST_BODY: number = Math.min(MOST_BYTES, Math.floor(heapLimit / HEAP_SHARE))

/** Whether so little of the heap is left that long work must end before it ends the process. */
export const isHeapFull = (): boolean => getHeapStatistics().used_heap_size > FULL * heapLimit
