import * as z from 'zod'
import { parseDuration } from '../model/duration.ts'
import { Duration, mustBe } from './schema-parts.ts'

/** India's time, if a rule names no other zone: the service is Indian. */
const DEFAULT_ZONE = 'Asia/Kolkata'

const TimeOfDay = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, {
  error: mustBe('a time of day such as "01:00"'),
})

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined
  } catch {
    return false
  }
}

export const TimeWindow = z
  .strictObject({
    from: TimeOfDay,
    to: TimeOfDay.describe('The first minute after it; earlier than `from`: on the next day.'),
    zone: z
      .string()
      .refine(isZone, { error: mustBe('an IANA time zone such as Asia/Kolkata or UTC') })
      .optional()
      .describe(`An IANA time zone; ${DEFAULT_ZONE} if it is missing.`),
  })
  .refine(({ from, to }) => from !== to, {
    error: 'is empty: `from` and `to` are the same time; remove `time`, or change one of them',
  })

export const ElapsedWindow = z
  .strictObject({ from: Duration.optional(), to: Duration.optional() })
  .refine(({ from = '0s', to }) => to === undefined || parseDuration(from)! < parseDuration(to)!, {
    error: 'is empty: `to` must be later than `from`',
  })

type Times = {
  time?: z.infer<typeof TimeWindow> | undefined
  elapsed?: z.infer<typeof ElapsedWindow> | undefined
  for?: string | undefined
}

function clockOf(zone: string) {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  return (now: number) => format.format(now)
}

/** Returns whether a rule applies at a time; `undefined` if it always does. */
export function timesOf({ time, elapsed, for: lasts }: Times) {
  const ms = (duration: string | undefined, other: number) =>
    duration === undefined ? other : parseDuration(duration)!
  const first = ms(elapsed?.from, 0)
  const end = Math.min(
    ms(elapsed?.to, Number.POSITIVE_INFINITY),
    ms(lasts, Number.POSITIVE_INFINITY),
  )
  if (time === undefined) {
    if (elapsed === undefined && lasts === undefined) return undefined
    return (_: number, sinceMs: number) => sinceMs >= first && sinceMs < end
  }
  const clock = clockOf(time.zone ?? DEFAULT_ZONE)
  return (now: number, sinceMs: number) => {
    if (sinceMs < first || sinceMs >= end) return false
    const at = clock(now)
    return time.from < time.to ? at >= time.from && at < time.to : at >= time.from || at < time.to
  }
}
