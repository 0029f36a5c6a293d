import { assumption } from './assumption.ts'

/**
 * A word that the contract does not list, for each word of a status that is not final. The contract lists all words of the
 * history's `status`.
 */
const NEW_WORD: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  transaction_status: { pending: 'queued', processing: 'queued' },
  kyc_status: { pending: 'in_review' },
  bank_status: { pending: 'in_review' },
}

/** The first text of an object is its id; it alone decides, so that every response shows the same words. */
function hasNewWords(fields: object): boolean {
  const id = Object.values(fields).find((value) => typeof value === 'string')
  return (
    typeof id === 'string' && [...id].reduce((sum, one) => sum + one.charCodeAt(0), 0) % 4 === 0
  )
}

function renew(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renew)
  if (typeof value !== 'object' || value === null) return value
  const isNew = hasNewWords(value)
  const fields = Object.entries(value).map(([name, inner]) => {
    const word = isNew && typeof inner === 'string' ? NEW_WORD[name]?.[inner] : undefined
    return [name, word ?? renew(inner)]
  })
  return { ...Object.fromEntries(fields), new_field: 'unknown' }
}

/** Whether responses and webhooks contain fields and words that the contract does not list. */
export const newWords = assumption<(body: object) => unknown>({
  name: 'new_words',
  section: '3',
  concerns: ['all calls', 'webhooks'],
  question:
    'Do responses and webhooks contain fields and status words that the contract does not list?',
  basis: 'guessed',
  why: 'The contract says that its value sets are not complete, except that of `status` in the history. Test once with `some`: code that rejects an unknown word breaks on the first day that the service has a new one.',
  default: 'none',
  readings: {
    none: { does: 'no', value: (body) => body },
    some: {
      does: 'each object of a successful response and of a webhook has a field `new_field`, and one resource in four, chosen by its id, shows another word (`queued`, `in_review`) in place of a status that is not final',
      value: renew,
    },
  },
})
