import { closeSync, writeFileSync } from 'node:fs'
import { CommandFailed } from './command.ts'
import { remoteCommand } from './remote.ts'

type Recording = { file: string; lines: number; text: string }

export const record = remoteCommand({
  name: 'record',
  summary: 'the run of a sandbox that was started with --record, as a file for replay',
  verbs: {
    export: {
      takes: 'FILE',
      does: 'write the run since the start into a file; it holds tokens and secrets',
      async run(api, [file]) {
        const { lines, text }: Recording = await api('GET', '/record')
        const { openPrivate } = await import('../core/private-file.ts')
        try {
          const fd = openPrivate(file!)
          writeFileSync(fd, text)
          closeSync(fd)
        } catch (error) {
          const { code } = error as NodeJS.ErrnoException
          throw new CommandFailed(`${file} cannot be written (${code}).`)
        }
        return {
          answer: { file, lines },
          text: `${lines} lines written; see them by replay ${file}\n`,
        }
      },
    },
  },
  examples: ['record export run.ndjson', 'record export run.ndjson --url http://127.0.0.1:4310'],
})
