import * as z from 'zod'
import { adminCall } from '../../http/admin-call.ts'
import { SandboxError } from '../../model/errors.ts'

/** Reads the recording; its file can be deleted or protected while the sandbox runs. */
function readOrExplain(file: string, read: () => string): string {
  try {
    return read()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new SandboxError(
      'not_recorded',
      `The recording ${file} cannot be read (${code}). Start the sandbox again with --record FILE.`,
    )
  }
}

/** The call that returns the recording of a run. */
export const recordCalls = [
  adminCall({
    id: 'getRecording',
    summary:
      'The recording of all clients since the start, for replay; needs --record. It contains tokens and secrets',
    unrecorded: true,
    response: z
      .strictObject({ file: z.string(), lines: z.int(), text: z.string() })
      .meta({ id: 'RecordingResponse' }),
    errors: ['not_recorded'],
    handle(_world, _input, { recorder }) {
      if (!recorder)
        throw new SandboxError(
          'not_recorded',
          'Recording is off. Start the sandbox with --memory --record FILE.',
        )
      if (recorder.failure !== undefined)
        throw new SandboxError(
          'not_recorded',
          `The recording stopped early: ${recorder.file} cannot be written (${recorder.failure}).`,
        )
      const { file } = recorder
      const text = readOrExplain(file, recorder.text)
      return { file, lines: text.split('\n').length - 1, text }
    },
  }),
]
