import * as z from 'zod'
import { LAST_INSTANT } from './formats.ts'

/** Something that will happen: a stored row, so that it can be listed, fired, cancelled and survives a restart. */
export const TimerRow = z.strictObject({
  timer_id: z.string(),
  /** Client's time, ms. */
  due_at: z.int().min(0).max(LAST_INSTANT),
  /** Insertion number; breaks ties of `due_at`. */
  seq: z.int(),
  kind: z.string(),
  /** The id of the resource it is about, if any. */
  resource_id: z.string().optional(),
  payload: z.record(z.string(), z.unknown()),
})
export type TimerRow = z.infer<typeof TimerRow>
