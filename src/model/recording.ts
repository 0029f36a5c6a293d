import * as z from 'zod'

const Id = z.int().min(1)
/** Wall time, ms since 1970: the sandbox's current time from this line on. */
const At = z.int().min(0)
/** Bytes as text if they are UTF-8, otherwise as base64; neither if there are no bytes. */
const bytes = { text: z.string().optional(), base64: z.string().optional() }

/** The format of recordings that this version writes and replays. */
export const RECORDING_FORMAT = 3

/** The first line of a recording: the whole input of a start, so that no other file is needed. */
export const RecordingStart = z.strictObject({
  /** The format of this file. */
  recording: z.literal(RECORDING_FORMAT),
  version: z.string(),
  at: At,
  /** The options of `start` that affect responses. */
  options: z.record(z.string(), z.unknown()),
  /** The start scenario is imposed on all clients. */
  imposes: z.literal(true).optional(),
  fixtures: z.record(z.string(), z.unknown()),
  scenarios: z.array(
    z.strictObject({
      name: z.string(),
      file: z.string(),
      definition: z.looseObject({}),
      source: z.string(),
    }),
  ),
})

/** A received call; its body is in the same line, or in a later one if something happened in between. */
const Call = z.strictObject({
  call: Id,
  at: At,
  method: z.string(),
  url: z.string(),
  http: z.string(),
  /** Alternating names and values, as they were sent. */
  headers: z.array(z.string()),
  /** When the whole body had arrived. */
  body_at: At.optional(),
  body_later: z.literal(true).optional(),
  ...bytes,
})
const Body = z.strictObject({
  body: Id,
  at: At,
  /** Why it is incomplete: the server refused the rest, or the sender disconnected. */
  partial: z.enum(['rejected', 'hang_up']).optional(),
  ...bytes,
})
/** The caller closed the connection before the response, which ended the work of the call. */
const Left = z.strictObject({ hang_up: Id, at: At })
const ResponseLine = z.strictObject({
  response: Id,
  /** Absent if the connection was broken before a response. */
  status: z.int().optional(),
  headers: z.record(z.string(), z.unknown()).optional(),
  /** How a scenario broke it. */
  fault: z.string().optional(),
  ...bytes,
})
/** A real timer of the sandbox fired: due timers of a ticking clock run, or a wait times out. */
const Timer = z.strictObject({ timer: Id, at: At })
/** A client's timer ran: on a ticking clock, or in a call that moved the clock. `due_at`: on the client's clock, ms. */
const Ran = z.strictObject({
  ran: z.string(),
  client: z.string(),
  kind: z.string(),
  due_at: z.int(),
})
/** A sent webhook attempt or probe request. */
const Send = z.strictObject({
  send: Id,
  method: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  ...bytes,
})
const Sent = z.strictObject({
  sent: Id,
  at: At,
  result: z.looseObject({ ok: z.boolean(), response: z.string(), duration_ms: z.number() }),
})
/** Random digits for a token that a call did not specify. */
const Secret = z.strictObject({ secret: z.string() })

/** Any later line: an input, a response or a sent request of the sandbox, in order. */
export const RecordingLine = z.union([
  Call,
  Body,
  Left,
  ResponseLine,
  Timer,
  Ran,
  Send,
  Sent,
  Secret,
])

export type RecordingStart = z.infer<typeof RecordingStart>
export type RecordingLine = z.infer<typeof RecordingLine>
export type RecordedCall = z.infer<typeof Call>
export type RecordedBody = z.infer<typeof Body>
export type RecordedHangUp = z.infer<typeof Left>
export type RecordedResponse = z.infer<typeof ResponseLine>
export type RecordedTimer = z.infer<typeof Ran>
export type RecordedSend = z.infer<typeof Send>

/** Bytes in the form of a recording line. */
export type RecordedBytes = { text?: string | undefined; base64?: string | undefined }
