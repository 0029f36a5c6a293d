/**
 * Logs a warning the first time, and with its count the 10th, 100th, 1,000th, ... time: nobody reads a million equal
 * lines. Warnings with the same `key` are equal; there must be few keys.
 */
export function createRepeatedWarning(warn: (message: string) => void) {
  const counts = new Map<string, number>()
  return (key: string, message: string) => {
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    if (count === 1) warn(message)
    else if (/^10+$/.test(String(count)))
      warn(`${message} (${count.toLocaleString('en-US')} times so far)`)
  }
}
