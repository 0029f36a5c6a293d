/** Returns a test whether a string contains all words of a search; `undefined` if there are no words. */
export function searchTest(search: string): ((text: string) => boolean) | undefined {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return undefined
  return (text) => {
    const lower = text.toLowerCase()
    return words.every((word) => lower.includes(word))
  }
}
