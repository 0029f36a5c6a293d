import * as z from 'zod'
import { givenReadings, type Readings, readingProblem } from '../assumptions/readings.ts'
import { isClockTime } from '../model/formats.ts'

/** Accepts a JSON number, or decimal digits from a flag or a variable. `Number` alone would accept '', 5e3 and 0x10. */
export const decimal = (format: RegExp, error: string) =>
  z.union([z.number(), z.string().regex(format).transform(Number)], { error })

export const wholeNumber = (from: number, to: number) => {
  const error = `takes a whole number from ${from} to ${to}`
  return decimal(/^\d{1,16}$/, error).pipe(z.int({ error }).min(from, { error }).max(to, { error }))
}

export const oneOf = <T extends string>(...values: [T, ...T[]]) =>
  z.enum(values, { error: `takes ${values.slice(0, -1).join(', ')} or ${values.at(-1)}` })

export const text = () => z.string().min(1)

export const instant = () =>
  z.iso
    .datetime({ offset: true })
    .refine((value) => isClockTime(Date.parse(value)))
    .transform((value) => new Date(value).toISOString())

export const SPEED_ERROR = 'takes a number above 0, up to 1000000, such as 60 or 0.5'

export const flag = () =>
  z
    .union([z.boolean(), z.enum(['true', 'false', '1', '0'])], { error: 'takes true or false' })
    .transform((value) => value === true || value === 'true' || value === '1')

export const list = () =>
  z
    .union([
      z.string().transform((text) => text.split(',').map((part) => part.trim())),
      z.array(z.string()),
    ])
    .pipe(z.array(z.string().min(1)))

export const isHost = (text: string) =>
  /^(?:\[?[0-9a-f:.]+\]?|[^\s/\\?#@:[\]]+)$/i.test(text) &&
  URL.canParse(`http://${text.includes(':') && !text.startsWith('[') ? `[${text}]` : text}/`)

export const HOST_ERROR = 'takes a host name or an IP address, without scheme, port and path'

const READING_ERROR = 'takes NAME=READING, such as idempotency_key=honoured'

/** The string `name=reading` as an entry; the name alone without `=`. */
function readingOf(text: string): [string, string] {
  const at = text.indexOf('=')
  return at < 0 ? [text, ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}

/** Readings as `name=reading` texts of a flag or a variable, or as an object of a file or the library. */
export const readings = () =>
  z
    .union(
      [list().transform((texts) => Object.fromEntries(texts.map(readingOf))), z.looseObject({})],
      {
        error: READING_ERROR,
      },
    )
    .transform((values, context): Readings => {
      const given = givenReadings(values)
      for (const [name, reading] of Object.entries(given)) {
        const problem = readingProblem(name, reading)
        if (problem === undefined) continue
        context.addIssue({ code: 'custom', message: `${READING_ERROR}: ${name} ${problem}` })
      }
      return given
    })
