import type { WorldContext } from '../tables/world-context.ts'

const DAY_MS = 86_400_000

/** Returns the function that makes a UTR: 12 digits, the year's last digit, the day of the year, and a unique number. */
export function createUtrSeries({ clock, random }: Pick<WorldContext, 'clock' | 'random'>) {
  // The first four digits, and their day, counted since 1970.
  let day = Number.NaN
  let head = ''
  return (): string => {
    const today = Math.floor(clock.now() / DAY_MS)
    if (today !== day) {
      const year = new Date(today * DAY_MS).getUTCFullYear()
      const dayOfYear = today - Date.UTC(year, 0, 1) / DAY_MS + 1
      head = `${year % 10}${String(dayOfYear).padStart(3, '0')}`
      day = today
    }
    // A factor coprime to 10 maps the running number to eight digits that look random and are unique.
    const serial = (random.next() * 48_271) % 100_000_000
    return `${head}${String(serial).padStart(8, '0')}`
  }
}
