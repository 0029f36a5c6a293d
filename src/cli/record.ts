import { closeSync, writeFileSync } from 'node:fs'
import { openPrivate } from '../config/output-file.ts'
import { CommandFailed } from './command.ts'
import { remoteCommand } from './remote.ts'

export const record = remoteCommand({
  name: 'record',
  summary: 'export the recording of a sandbox that was started with --record',
  subcommands: {
    export: {
      syntax: 'FILE',
      description:
        'write the recording since the start to a file, for replay; it contains tokens and secrets',
      async run(api, [file]) {
        const { lines, text } = await api('getRecording')
        try {
          const fd = openPrivate(file!)
          writeFileSync(fd, text)
          closeSync(fd)
        } catch (error) {
          const { code } = error as NodeJS.ErrnoException
          throw new CommandFailed(`${file} cannot be written (${code}).`)
        }
        return {
          response: { file, lines },
          text: `${lines} lines written; run payout-sandbox replay ${file} to replay them\n`,
        }
      },
    },
  },
  examples: ['record export run.ndjson', 'record export run.ndjson --url http://127.0.0.1:4310'],
})
