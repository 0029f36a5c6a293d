import { dirname, join, relative, sep } from 'node:path'
import { printableLine } from '../model/printable.ts'
import { replaceFile } from '../report/output-file.ts'
import { type Command, CommandFailed, checkArguments } from './command.ts'

const FILE = 'scenario.schema.json'

/** The lines that name the schema in a scenario file: of VS Code and other editors with its server, and of JetBrains. */
const linesFor = (path: string) => [`# yaml-language-server: $schema=${path}`, `# $schema: ${path}`]

/** Writes the schema into a folder of scenario files, and returns what to write into those files. */
async function writeInto(folder: string, schema: string): Promise<string> {
  const { scenarioTree } = await import('../scenarios/scenario-files.ts')
  const file = join(folder, FILE)
  let files: string[]
  try {
    ;({ files } = scenarioTree(folder))
    replaceFile(file, schema)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandFailed(
      `${file} cannot be written (${code}). Give the folder of your scenario files.`,
    )
  }
  const inside = [...new Set(['.', ...files.map(dirname)])].map((one) => {
    const lines = linesFor(join(relative(one, '.'), FILE).replaceAll(sep, '/'))
    return `One of these lines at the top of a file in ${printableLine(join(folder, one))} shows it to an editor:\n${lines.join('\n')}\n`
  })
  return `${printableLine(file)} is written.\n${inside.join('')}`
}

export const schema: Command = {
  name: 'schema',
  summary: 'print the JSON Schema of scenario files, or write it beside yours for your editor',
  usage: [
    ['schema', 'print the JSON Schema of scenario files'],
    ['schema DIR', `write it into a folder of scenario files, as ${FILE}`],
  ],
  flags: {},
  examples: ['schema ./scenarios', 'schema > scenario.schema.json'],
  async run({ args }) {
    checkArguments('schema', '[DIR]', args)
    const [folder] = args
    const { scenarioJsonSchema } = await import('../scenarios/scenario-schema.ts')
    const text = scenarioJsonSchema()
    process.stdout.write(folder === undefined ? text : await writeInto(folder, text))
    return 0
  },
}
