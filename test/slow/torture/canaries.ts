import { SEED, seeded } from './part.ts'

export type Kind = 'aadhaar' | 'pan' | 'account' | 'secret' | 'token'

/** A value that nobody else has, and where it went in. */
export type Canary = {
  kind: Kind
  value: string
  place: string
  /** It was taken into a row, so that the data file must hold it. */
  stored?: boolean
  /** It stands in a text of the user's own, which the service shows again as its owner wrote it. */
  free?: boolean
}

// No shorter than the shortest writing, which is six of the ten letters of a PAN.
const HEAD = 6

/** Whether a place is inside of a number: the generated ids of payments are so long that some contain the digits of a value. */
const isInNumber = (text: string, at: number) => /^\d\d$/.test(text.slice(at - 1, at + 1))

/** Makes values that look like what must not be seen, and finds them again in any text. */
export function createCanaries() {
  const chance = seeded(SEED)
  const all: Canary[] = []
  const pick = (letters: string, count: number) =>
    Array.from({ length: count }, () => letters[Math.floor(chance() * letters.length)]).join('')
  const MAKE: Record<Kind, () => string> = {
    aadhaar: () => pick('23456789', 1) + pick('0123456789', 11),
    pan: () =>
      pick('ABCDEFGHJKLMNPQRSTUVWXYZ', 5) +
      pick('0123456789', 4) +
      pick('ABCDEFGHJKLMNPQRSTUVWXYZ', 1),
    account: () => pick('123456789', 1) + pick('0123456789', 15),
    secret: () => `whsec_${Buffer.from(pick('abcdefghijklmnopqrstuvwxyz', 24)).toString('base64')}`,
    token: () => `sbx_Live_${pick('abcdefghijklmnopqrstuvwxyz0123456789', 24)}`,
  }
  /** The part that no mask shows, and it as other writings have it. */
  function writings(value: string): string[] {
    const hidden = value.slice(0, -4)
    return [
      hidden,
      hidden.toLowerCase(),
      encodeURIComponent(hidden),
      Buffer.from(value).toString('base64').slice(0, -4),
      Buffer.from(value).toString('hex'),
    ]
  }
  /** The first letters of all writings, with what follows: a text of thousands of letters is read once for all. */
  const byHead = new Map<string, { writing: string; canary: Canary }[]>()
  return {
    all,
    plant(kind: Kind, place: string, more: Partial<Canary> = {}): Canary {
      const canary = { kind, value: MAKE[kind](), place, ...more }
      all.push(canary)
      for (const writing of new Set(writings(canary.value))) {
        const head = writing.slice(0, HEAD)
        byHead.set(head, [...(byHead.get(head) ?? []), { writing, canary }])
      }
      return canary
    },
    /** Which of them a text shows. */
    seenIn(text: string): Canary[] {
      const seen = new Set<Canary>()
      for (let at = 0; at <= text.length - HEAD; at++)
        for (const { writing, canary } of byHead.get(text.slice(at, at + HEAD)) ?? [])
          if (text.startsWith(writing, at) && !isInNumber(text, at)) seen.add(canary)
      return [...seen]
    },
  }
}
