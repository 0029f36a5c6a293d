import type { Between } from './paging.ts'

/** Returns a test whether a string contains all words of a search; `undefined` if there are no words. */
export function searchTest(search: string): ((text: string) => boolean) | undefined {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return undefined
  return (text) => {
    const lower = text.toLowerCase()
    return words.every((word) => lower.includes(word))
  }
}

/** Returns a test for instants (ms or ISO) between those of a query; `undefined` if it limits nothing. */
export function betweenTest({ since = '', until = '' }: Between) {
  if (since === '' && until === '') return undefined
  // NaN without a limit, which no time is before or after.
  const [from, to] = [Date.parse(since), Date.parse(until)]
  return (at: string | number): boolean => !(+new Date(at) < from || +new Date(at) > to)
}
