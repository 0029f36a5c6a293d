import { rupeesOf } from '../model/payment.ts'
import type { Observation, SeenPayment } from './faults-and-findings.ts'
import type { KeyLevel } from './observe.ts'

type Writes = ReadonlyMap<string, number>

const isWrite = ({ method }: Observation['calls'][number]) => method !== 'GET' && method !== 'HEAD'

/** How often each write got each status. */
function writesOf({ calls }: Observation): Writes {
  const writes = new Map<string, number>()
  for (const call of calls.filter(isWrite)) {
    const name = `${call.operation || `${call.method} ${call.path}`} with ${call.status ?? 'no response'}`
    writes.set(name, (writes.get(name) ?? 0) + 1)
  }
  return writes
}

const readsOf = ({ calls }: Observation) =>
  new Set(calls.filter((call) => !isWrite(call)).map(({ operation }) => operation))

const amountsOf = ({ payments }: Observation) =>
  payments.map(({ paise }) => paise).sort((a, b) => a - b)

const MAX_AMOUNTS = 5

/** Amounts that only one of two runs paid. */
function otherAmounts(first: Observation, second: Observation): string {
  const rest = amountsOf(second)
  const only = amountsOf(first).filter((paise) => {
    const at = rest.indexOf(paise)
    if (at >= 0) rest.splice(at, 1)
    return at < 0
  })
  return only.slice(0, MAX_AMOUNTS).map(rupeesOf).join(', ') || 'none'
}

/** What two runs without faults did otherwise, in words. */
export function baselineDifferences(first: Observation, second: Observation): string[] {
  const [writes, again] = [writesOf(first), writesOf(second)]
  const names = [...new Set([...writes.keys(), ...again.keys()])].sort()
  const found = names
    .filter((name) => writes.get(name) !== again.get(name))
    .map(
      (name) =>
        `${name}: ${writes.get(name) ?? 0} in the first run, ${again.get(name) ?? 0} in the second`,
    )
  const [reads, readsAgain] = [readsOf(first), readsOf(second)]
  for (const name of [...new Set([...reads, ...readsAgain])].sort())
    if (reads.has(name) !== readsAgain.has(name))
      found.push(`${name}: only in the ${reads.has(name) ? 'first' : 'second'} run`)
  const [amounts, amountsAgain] = [otherAmounts(first, second), otherAmounts(second, first)]
  if (amounts !== amountsAgain)
    found.push(`amounts paid: ${amounts} only in the first run, ${amountsAgain} only in the second`)
  return found
}

const keysAt = (payments: readonly SeenPayment[], level: KeyLevel) =>
  payments
    .map(({ keys }) => keys[level]!)
    .sort()
    .join('\n')

/** The finest keys that are equal in both runs; if not even the amounts are, only the number of payments is compared. */
export function keyLevelOf(first: Observation, second: Observation): KeyLevel {
  const levels: readonly KeyLevel[] = [0, 1, 2, 3]
  return (
    levels.find((level) => keysAt(first.payments, level) === keysAt(second.payments, level)) ?? 3
  )
}

/** A run with the keys of a level. */
export const withLevel = (observation: Observation, level: KeyLevel): Observation => ({
  ...observation,
  payments: observation.payments.map((one) => ({ ...one, key: one.keys[level]! })),
})
