import * as z from 'zod'

const Id = z.int().min(1)
/** Wall time, ms since 1970: what the sandbox took for now from here on. */
const At = z.int().min(0)
/** Bytes as text where they are UTF-8, else in base64; without either there were none. */
const bytes = { text: z.string().optional(), base64: z.string().optional() }

/** The format of recordings that this version writes and replays. */
export const RECORDING_FORMAT = 3

/** The first line of a recording: all that a sandbox is started with, so that no other file is needed. */
export const RecordingStart = z.strictObject({
  /** The format of this file. */
  recording: z.literal(RECORDING_FORMAT),
  version: z.string(),
  at: At,
  /** The options of `start` that change responses, by their names in the config file. */
  options: z.record(z.string(), z.unknown()),
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

/** A call as it came; its body in the same line, in a later one where something came between, or none. */
const Call = z.strictObject({
  call: Id,
  at: At,
  method: z.string(),
  url: z.string(),
  http: z.string(),
  /** Names and values in turn, as they were sent. */
  headers: z.array(z.string()),
  /** When the whole body was there. */
  body_at: At.optional(),
  body_later: z.literal(true).optional(),
  ...bytes,
})
const Body = z.strictObject({
  body: Id,
  at: At,
  /** Why it is not whole: it was refused on its way, or its sender left. */
  partial: z.enum(['refused', 'left']).optional(),
  ...bytes,
})
/** The caller closed the connection before the response, which ended what the call had begun. */
const Left = z.strictObject({ left: Id, at: At })
const ResponseLine = z.strictObject({
  answer: Id,
  /** Absent where the connection was broken before an answer. */
  status: z.int().optional(),
  headers: z.record(z.string(), z.unknown()).optional(),
  /** How a scenario broke it. */
  fault: z.string().optional(),
  ...bytes,
})
/** A real timer of the sandbox ended: what is due on a ticking clock runs, or a wait gives up. */
const Timer = z.strictObject({ timer: Id, at: At })
/** A client's timer ran: by a ticking clock, or within a call that moved time. `due_at`: on the client's clock, ms. */
const Ran = z.strictObject({
  ran: z.string(),
  client: z.string(),
  kind: z.string(),
  due_at: z.int(),
})
/** An attempt of a webhook, or a probe, and how it ended. */
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
  result: z.looseObject({ ok: z.boolean(), answer: z.string(), duration_ms: z.number() }),
})
/** Digits that nobody could guess, for a token that a call did not give. */
const Secret = z.strictObject({ secret: z.string() })

/** One of the further lines: what reached the sandbox, or what it answered or sent, in order. */
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

/** Bytes as a line has them. */
export type RecordedBytes = { text?: string | undefined; base64?: string | undefined }
