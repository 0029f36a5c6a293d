import { getHeapStatistics } from 'node:v8'

const MIB = 1024 * 1024
const FLAG = /--max[-_]old[-_]space[-_]size[= ](\d+)/g
// Measured: a start leaves all but 16 MiB of the old space free, and a MiB holds 14 clients that were made by a first
// call. Half of that is for what clients keep and what calls need.
const START_MIB = 20
const CLIENTS_OF_MIB = 7
const FEWEST = 8

/** How large V8's old space may get, in MiB: Node aborts where what lives long does not fit into it. */
function oldSpace(): number {
  const flags = [process.env['NODE_OPTIONS'], ...process.execArgv].join(' ')
  const given = [...flags.matchAll(FLAG)].at(-1)
  if (given) return Number(given[1])
  // The limit is that of the whole heap; without a flag, a tenth is more than its other spaces get.
  return (getHeapStatistics().heap_size_limit / MIB) * 0.9
}

/** How many clients an old space of so many MiB holds safely. */
export function clientsOfHeap(mib = oldSpace()): number {
  return Math.max(FEWEST, Math.floor((mib - START_MIB) * CLIENTS_OF_MIB))
}
