import { cpus } from 'node:os'

/** How often to look at the machine, real ms. */
export const CHECK_MS = 250
const IDLE = 0.4
const BUSY = 0.2

/** The time of all processors since the start of the machine, and how much of it they were idle. */
function processorTimes() {
  const all = cpus().map(({ times }) => times)
  const sum = (of: (one: (typeof all)[number]) => number) =>
    all.reduce((total, one) => total + of(one), 0)
  return {
    idle: sum((one) => one.idle),
    all: sum((one) => one.user + one.nice + one.sys + one.irq + one.idle),
  }
}

/** Whether the machine has time for another run, or too little for those that there are. */
export type Machine = { isIdle: () => boolean; isBusy: () => boolean }

export function watchMachine(): Machine {
  let last = processorTimes()
  let idle = 0
  function look(): number {
    const now = processorTimes()
    const passed = now.all - last.all
    if (passed < CHECK_MS / 2) return idle
    idle = (now.idle - last.idle) / passed
    last = now
    return idle
  }
  return { isIdle: () => look() > IDLE, isBusy: () => look() < BUSY }
}
