import { CommandFailed } from './command.ts'
import { remoteCommand } from './remote.ts'

/** The checked content of a file. Throws `CommandFailed` with all problems and their places. */
async function readFile(file: string) {
  const { stateContent } = await import('../content/state-file.ts')
  try {
    return (await stateContent(file)) as object
  } catch (error) {
    throw new CommandFailed((error as Error).message, undefined, 2)
  }
}

export const state = remoteCommand({
  name: 'state',
  summary: 'save the state of a running sandbox as a file that can be committed, and load it again',
  subcommands: {
    export: {
      syntax: '',
      description: 'print the state without tokens and secrets, one row a line',
      async run(api) {
        const response = await api('getState')
        const { rowsText, stateText } = await import('../store/states.ts')
        const { tables, ...head } = response
        const rows = Object.entries(tables).map(([name, list]) => [name, rowsText(list)] as const)
        return { response, text: `${[...stateText(head, rows)].join('')}\n` }
      },
    },
    import: {
      syntax: 'FILE',
      description:
        'replace the state by that of a file; of a whole db.json by that of the same client, else of default',
      async run(api, [file]) {
        const response = await api('putState', { body: (await readFile(file!)) as never })
        const rows = Object.values(response.rows).reduce((sum, count) => sum + count, 0)
        return { response, text: `${file} imported: ${rows} rows, now ${response.now}\n` }
      },
    },
  },
  examples: [
    'state export > demo.json',
    'state import demo.json',
    'state export --client worker-3 > worker-3.json',
  ],
})
