import type { FastifyRequest } from 'fastify'
import type * as z from 'zod'
import { quoteInput } from '../model/mask.ts'
import { validationFailed } from '../model/validation-errors.ts'
import { didYouMean } from '../model/words.ts'
import { allOf } from '../scenarios/wording.ts'

function notKnown(name: string, known: readonly string[]): string {
  if (known.length === 0) return 'is unknown; this call takes no query parameters'
  const near = didYouMean(name, known)
  return `is unknown${near ? `${near} This` : '; this'} call takes ${allOf(known)}`
}

/** Throws if a call does not know a query parameter: a misspelled filter must not be ignored silently. */
export function refuseUnknownQuery(request: FastifyRequest, query: z.ZodObject | undefined): void {
  const known = Object.keys(query?.shape ?? {})
  const unknown = Object.keys(request.query as object).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  const errors = unknown.map((name) => ({
    field: quoteInput(name),
    code: 'unrecognized_keys',
    message: notKnown(name, known),
  }))
  throw validationFailed(errors, { subject: `The query parameter ${errors[0]!.field}` })
}
