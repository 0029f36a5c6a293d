// The options of the commands that measure and torture: help, the parts that `--only` names, and errors without a stack.
import { parseArgs } from 'node:util'

/** The parts that `--only` names, of all these. Throws for another name. */
export function selectedOf(only, names) {
  const selected = only?.split(',') ?? names
  for (const name of selected)
    if (!names.includes(name)) throw new Error(`--only takes ${names.join(', ')}, not ${name}`)
  return selected
}

/**
 * Reads the options of a command as `util.parseArgs` describes them, and returns what `read` makes of the values. `--help`
 * prints the usage. What is wrong, or an error of `read`, is printed with the usage, and the process ends with exit code 2.
 */
export function readOptions(usage, options, read) {
  try {
    const help = { type: 'boolean', short: 'h', default: false }
    const { values } = parseArgs({ options: { ...options, help } })
    if (!values.help) return read(values)
    console.log(usage)
  } catch (error) {
    console.error(`${error.message}\n${usage}`)
    process.exit(2)
  }
  process.exit(0)
}
