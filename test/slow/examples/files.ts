import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OPTIONS, type OptionName, variableOf } from '../../../src/config/options.ts'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'

/** A file of this repository. */
export const read = (name: string): string => readFileSync(join(PACKAGE_ROOT, name), 'utf8')

/** The environment variables that the program knows. */
export const optionNames: readonly string[] = (Object.keys(OPTIONS) as OptionName[]).map(variableOf)
