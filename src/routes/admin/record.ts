import * as z from 'zod'
import { adminCall } from '../../http/admin.ts'
import { SandboxError } from '../../model/errors.ts'

/** The recording of a run. */
export const recordCalls = [
  adminCall({
    id: 'getRecording',
    method: 'GET',
    url: '/record',
    summary:
      'The run of all clients since the start, where --record keeps it: what replay takes. It holds tokens and secrets',
    unrecorded: true,
    response: z
      .strictObject({ file: z.string(), lines: z.int(), text: z.string() })
      .meta({ id: 'Recording' }),
    errors: ['not_recorded'],
    handle(_world, _input, { recorder }) {
      if (!recorder)
        throw new SandboxError(
          'not_recorded',
          'This run is not recorded. Start with --memory --record FILE.',
        )
      if (recorder.failure !== undefined)
        throw new SandboxError(
          'not_recorded',
          `The recording ended early: ${recorder.file} cannot be written (${recorder.failure}).`,
        )
      const text = recorder.text()
      return { file: recorder.file, lines: text.split('\n').length - 1, text }
    },
  }),
]
