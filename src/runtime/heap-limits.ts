import { getHeapStatistics } from 'node:v8'

// Above this share V8 spends its time on garbage collection, and then aborts the process.
const FULL = 0.85

const heapLimit = getHeapStatistics().heap_size_limit

/** Whether the heap is so full that long work must stop before V8 aborts the process. */
export const isHeapFull = (): boolean => getHeapStatistics().used_heap_size > FULL * heapLimit
