import { countOf } from '../../../model/words.ts'
import type { Plan, SweepResult } from '../faults-and-findings.ts'

const MAX_NAMES = 12

const nameOf = ({ name, operation, nth = 1 }: Plan[number]) =>
  [name, operation, nth > 1 ? nth : ''].filter(Boolean).join(' ')

const namesOf = (plans: readonly Plan[]): string => {
  const names = [...new Set(plans.map((plan) => plan.map(nameOf).join(' + ')))]
  const more = names.length - MAX_NAMES
  return `${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** What a sweep says nothing about, in sentences. */
export function notProven(result: SweepResult): string[] {
  const { runs, untried, flaky, failures, baseline, isStopped } = result
  const unreached = runs.filter(({ verdict }) => verdict === 'not_reached')
  // Their rule acted, but showed only after the command had ended.
  const late = unreached.filter(({ observation }) => observation.hits.every((count) => count > 0))
  const hasEvents = baseline.deliveries.some(({ isAfterEnd }) => !isAfterEnd)
  const seen = new Set(
    baseline.deliveries.flatMap(({ event, isAfterEnd }) => (isAfterEnd ? [] : [event])),
  )
  const missed = new Set(
    baseline.deliveries.flatMap(({ event }) => (seen.has(event) ? [] : [event])),
  )
  const facts: [boolean, string][] = [
    [isStopped, 'The sweep was stopped early, so its findings were not rerun.'],
    [
      missed.size > 0,
      `${[...missed].join(', ')} came after the command had ended, so nothing was shown about it. Let the command wait for it.`,
    ],
    [untried.length > 0, `${countOf(untried.length, 'plan')} not tried: ${namesOf(untried)}.`],
    [
      unreached.length > 0,
      `${countOf(unreached.length, 'plan')} not reached: ${namesOf(unreached.map(({ plan }) => plan))}.${late.length > 0 ? ' Let a test wait, or advance the clock, until the fault shows.' : ''}`,
    ],
    [baseline.payments.length === 0, 'No payment was made, so nothing was shown about money.'],
    [
      !hasEvents,
      'No event was received while the command ran, so nothing was shown about webhooks.',
    ],
    [
      flaky.length + failures > 0,
      `The command fails by chance: ${countOf(failures, 'run')} without faults, and ${countOf(flaky.length, 'run')} whose finding did not come again.`,
    ],
    [
      true,
      'The live service itself: conform measures how it reads the open points of the contract.',
    ],
  ]
  return facts.filter(([isSo]) => isSo).map(([, text]) => text)
}
