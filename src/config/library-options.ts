import {
  BadOption,
  OPTIONS,
  type OptionName,
  type OptionSource,
  type Options,
  readOptions,
} from './options.ts'

/** The option of a camelCase name. A name with dashes belongs to the command line, so it becomes no option. */
const kebab = (name: string) =>
  name.includes('-')
    ? name.replaceAll('-', '_')
    : name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
const camel = (name: string) =>
  name.includes('_')
    ? name.replaceAll('_', '-')
    : name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

const format: OptionSource['format'] = (name, value) =>
  value === undefined ? camel(name) : `${camel(name)}: '${value}'`

/** The JavaScript type of an option: the type of its default value; a string if it has no default. */
function typeOf(name: OptionName): string {
  const [, defaultValue] = OPTIONS[name]
  if (name === 'state') return 'a string or an object'
  if (Array.isArray(defaultValue)) return 'an array of strings'
  if (typeof defaultValue === 'object') return 'an object'
  if (typeof defaultValue === 'number') return 'a number'
  return typeof defaultValue === 'boolean' ? 'true or false' : 'a string'
}

function typeFound(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return 'true or false'
  if (Array.isArray(value))
    return value.every((one) => typeof one === 'string') ? 'an array of strings' : 'another array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Throws `BadOption` on a value of the wrong type. Only command lines and variables convert strings to other types. */
function checkType(name: string, value: unknown) {
  const option = kebab(name) as OptionName
  if (!Object.hasOwn(OPTIONS, option)) return
  const [expected, found] = [typeOf(option), typeFound(value)]
  if (expected.split(' or ').includes(found) || expected === found) return
  const isShown = typeof value === 'string' && option !== 'admin-token'
  throw new BadOption(
    `${name} takes ${expected}, not ${found}${isShown ? ` (${JSON.stringify(value)})` : ''}`,
  )
}

/** Validates options with camelCase names and fills in the defaults. Throws `BadOption`. */
export function libraryOptions(
  given: Readonly<Record<string, unknown>>,
  defaults: Readonly<Record<string, unknown>>,
): Options {
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  for (const [name, value] of set) checkType(name, value)
  const values = Object.entries({ ...defaults, ...Object.fromEntries(set) })
  return readOptions([
    {
      values: Object.fromEntries(values.map(([name, value]) => [kebab(name), value])),
      label: camel,
      format,
    },
  ])
}
