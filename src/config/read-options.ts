import { type Readings, readingsOfDocument } from '../assumptions/readings.ts'
import { closestWord } from '../model/words.ts'
import { readJson } from './files.ts'
import {
  BadOption,
  OPTION_NAMES,
  OPTIONS,
  type OptionName,
  type Options,
  REMOVED_OPTIONS,
} from './options.ts'

/** One source of options, such as the command line or the environment. */
export type OptionSource = {
  /** The values by option name; `undefined` means not set. */
  values: Readonly<Record<string, unknown>>
  /** How a message names an option of this source, such as `--port` or `PAYOUT_SANDBOX_PORT`. */
  label: (name: string) => string
  /** How a user writes the name of an option, if that's not the label. */
  nameOf?: (name: string) => string
}

type Sources = readonly OptionSource[]

const sourceIndex = (sources: Sources, name: OptionName) =>
  sources.findIndex(({ values }) => values[name] !== undefined)

/** The value of an option from the first source that sets it, or its default. Throws `BadOption` on an invalid value. */
function readOption(name: OptionName, sources: Sources): unknown {
  const { type, default: defaultValue, valueName } = OPTIONS[name]
  const source = sources[sourceIndex(sources, name)]
  if (!source) return defaultValue
  const value = source.values[name]
  const result = type().safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]?.message ?? ''
  const expected = issue.startsWith('takes') ? issue : `takes ${valueName ?? 'true or false'}`
  const found = typeof value === 'number' ? String(value) : JSON.stringify(value)
  const suffix = name === 'admin-token' ? '' : `, not ${found}`
  throw new BadOption(`${source.label(name)} ${expected}${suffix}`)
}

/** Reads these options, each from the first source that sets it, or its default. Throws `BadOption`, also on an unknown option. */
export function readSomeOptions<T extends OptionName>(
  names: readonly T[],
  sources: Sources,
): Pick<Options, T> {
  for (const { values, label, nameOf = label } of sources) {
    const name = Object.keys(values).find((one) => !Object.hasOwn(OPTIONS, one))
    if (name !== undefined) throw unknownOption(label(name), name, OPTION_NAMES, nameOf)
  }
  return Object.fromEntries(names.map((name) => [name, readOption(name, sources)])) as Pick<
    Options,
    T
  >
}

/** The readings of `--assume-file`, which `conform --save` wrote. */
function readAssumeFile(file: string, label: string): Readings {
  const fail = (problem: string): never => {
    throw new BadOption(`${label}: ${file} ${problem}; conform --save FILE writes such a file`)
  }
  let document: unknown
  try {
    document = readJson(file)
  } catch (error) {
    return fail((error as Error).message)
  }
  const read = readingsOfDocument(document)
  return 'problem' in read ? fail(read.problem) : read.readings
}

/** The readings in force: those that are chosen by name have priority over those of a file. */
function assumeOf({ assume, auth, 'assume-file': file }: Options, sources: Sources): Readings {
  const [ofAuth, ofAssume] = [sourceIndex(sources, 'auth'), sourceIndex(sources, 'assume')]
  const { token } = assume
  if (auth !== undefined && ofAuth === ofAssume && token !== undefined && token !== auth)
    throw new BadOption('--auth and --assume token exclude each other; use one of them')
  const isOfAuth = auth !== undefined && (ofAuth <= ofAssume || token === undefined)
  const label = () => sources[sourceIndex(sources, 'assume-file')]!.label('assume-file')
  return {
    ...(file !== undefined && readAssumeFile(file, label())),
    ...assume,
    ...(isOfAuth && { token: auth }),
  }
}

/** Reads all options as `readSomeOptions` does. Also throws `BadOption` on options that exclude each other. */
export function readOptions(sources: Sources): Options {
  const read = readSomeOptions(OPTION_NAMES, sources)
  const [ofData, ofMemory] = [sourceIndex(sources, 'data'), sourceIndex(sources, 'memory')]
  if (read.memory && ofData !== -1 && ofData === ofMemory)
    throw new BadOption('--memory and --data exclude each other')
  // A source of higher precedence wins: a flag --data overrides a variable PAYOUT_SANDBOX_MEMORY.
  const memory = read.memory && (ofData === -1 || ofData > ofMemory)
  return Object.freeze({ ...read, memory, assume: assumeOf(read, sources) })
}

/** The error for an unknown option. Its message says what took its place, or suggests a similar one. */
export function unknownOption(
  label: string,
  name: string,
  known: readonly string[],
  nameOf: OptionSource['label'],
): BadOption {
  if (Object.hasOwn(REMOVED_OPTIONS, name))
    return new BadOption(`${label} was removed; ${REMOVED_OPTIONS[name]}`)
  const similar = closestWord(name, known)
  const meant = similar === undefined ? '' : ` (did you mean ${nameOf(similar)}?)`
  return new BadOption(`unknown option ${label}${meant}`)
}

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
const camel = (name: string) =>
  name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Validates options with camelCase names and fills in the defaults. Throws `BadOption`. */
export function libraryOptions(
  given: Readonly<Record<string, unknown>>,
  defaults: Readonly<Record<string, unknown>>,
): Options {
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  const values = Object.entries({ ...defaults, ...Object.fromEntries(set) })
  return readOptions([
    {
      values: Object.fromEntries(values.map(([name, value]) => [kebab(name), value])),
      label: camel,
    },
  ])
}
