import {
  BadOption,
  OPTIONS,
  type OptionName,
  type OptionSource,
  type Options,
  readOptions,
} from './options.ts'

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
const camel = (name: string) =>
  name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

const spelled: OptionSource['spelled'] = (name, value) =>
  value === undefined ? camel(name) : `${camel(name)}: '${value}'`

/** The type of an option in JavaScript: that of its default, and a string where it has none. */
function typeOf(name: OptionName): string {
  const [, fallback] = OPTIONS[name]
  if (Array.isArray(fallback)) return 'an array of strings'
  if (typeof fallback === 'number') return 'a number'
  return typeof fallback === 'boolean' ? 'true or false' : 'a string'
}

function typeFound(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return 'true or false'
  if (Array.isArray(value))
    return value.every((one) => typeof one === 'string') ? 'an array of strings' : 'another array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Refuses a value of another type: only the texts of a command line are read as numbers, switches and lists. */
function checkType(name: string, value: unknown) {
  const option = kebab(name) as OptionName
  if (!Object.hasOwn(OPTIONS, option)) return
  const [wanted, found] = [typeOf(option), typeFound(value)]
  if (wanted === found) return
  const isShown = typeof value === 'string' && option !== 'admin-token'
  throw new BadOption(
    `${name} takes ${wanted}, not ${found}${isShown ? ` (${JSON.stringify(value)})` : ''}`,
  )
}

/** The options of a program that starts a sandbox: camelCase names, values of their own type, defaults for the rest. */
export function libraryOptions(
  given: Readonly<Record<string, unknown>>,
  defaults: Readonly<Record<string, unknown>>,
): Options {
  const known = Object.entries(given).filter(([, value]) => value !== undefined)
  for (const [name, value] of known) checkType(name, value)
  const values = Object.entries({ ...defaults, ...Object.fromEntries(known) })
  return readOptions([
    {
      values: Object.fromEntries(values.map(([name, value]) => [kebab(name), value])),
      called: camel,
      spelled,
    },
  ])
}
