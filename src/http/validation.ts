import type { FastifyRequest } from 'fastify'
import * as z from 'zod'
import { type SchemaChange, unchanged } from '../assumptions/assumption.ts'
import { largestPage, limitParameter } from '../assumptions/lists.ts'
import { amountAsText, referenceId, smallestAmount } from '../assumptions/payments.ts'
import type { Assumed } from '../assumptions/readings.ts'
import { emptyQueryValue, ownRequestFields, unknownRequestFields } from '../assumptions/requests.ts'
import { malformedId } from '../assumptions/responses.ts'
import { accountNumberFormat, emailFormat, ifscCase, mobileFormat } from '../assumptions/users.ts'
import { SandboxError } from '../model/errors.ts'
import { parseExact } from '../model/exact-json.ts'
import {
  fieldErrors,
  LIST_KNOWN_KEYS,
  parseSent,
  safeParse,
  validationFailed,
} from '../model/validation-errors.ts'
import type { Operation } from './endpoint.ts'

/** The subject of a message about a part of a request; a field of the body needs no prefix. */
function subjectOf(part: string, field: string): string {
  if (part === 'querystring') return `The query parameter ${field}`
  if (part === 'params') return `The path parameter ${field}`
  return field === 'body' ? 'The request body' : field
}

function errorOf(error: z.core.$ZodError, data: unknown, part: string): SandboxError {
  if (part === 'body' && data == null)
    return new SandboxError(
      'validation_failed',
      'The body is missing or null. Send a JSON object with Content-Type: application/json.',
      { errors: [{ field: 'body', code: 'required', message: 'is required' }] },
    )
  const errors = fieldErrors(error, data)
  const subject = subjectOf(part, errors[0]!.field)
  return validationFailed(errors, { subject, count: Math.max(errors.length, error.issues.length) })
}

/** The valid value of a part of a request; throws a `SandboxError` if it does not match its schema. */
export function parsePart(schema: z.ZodType, data: unknown, part: string): unknown {
  // A missing body is null; a schema with a default needs undefined.
  const input = data ?? undefined
  const result = safeParse(schema, input)
  if (result.success) return result.data
  // A parse with options takes ten times as long, so only a rejected request pays for the list of known keys.
  const again = parseSent(schema, input, LIST_KNOWN_KEYS)
  if (again.success) return again.data
  throw errorOf(again.error, data, part)
}

export function validatorCompiler({ schema, httpPart }: { schema: unknown; httpPart?: string }) {
  return (data: unknown) => {
    try {
      return { value: parsePart(schema as z.ZodType, data, httpPart ?? 'body') }
    } catch (error) {
      return { error }
    }
  }
}

/** The readings about what a request may contain, in the order in which they change its schemas. */
const changesOf = (assumptions: Assumed): readonly SchemaChange[] => [
  assumptions.get(referenceId).request,
  assumptions.get(ownRequestFields),
  assumptions.get(amountAsText),
  // After the type of an amount, which it keeps.
  assumptions.get(smallestAmount),
  assumptions.get(malformedId),
  assumptions.get(emailFormat),
  assumptions.get(mobileFormat),
  assumptions.get(accountNumberFormat),
  assumptions.get(ifscCase),
  assumptions.get(largestPage),
  // After the size of a page, which it fixes.
  assumptions.get(limitParameter),
  assumptions.get(unknownRequestFields),
]

const NO_QUERY = z.object({})

type Schemas = Pick<Operation, 'params' | 'query' | 'body'>

/** Makes the function that returns the schemas of an operation under the readings of a client. */
function createSchemas(assumptions: Assumed): (op: Operation) => Schemas {
  const changes = changesOf(assumptions).filter((one) => one !== unchanged)
  if (changes.length === 0) return (op) => op
  const changed = new Map<Operation, Schemas>()
  return (op) => {
    let schemas = changed.get(op)
    if (!schemas) {
      const { id, params, query, body } = op
      const all = (schema: NonNullable<Operation['body']>) =>
        changes.reduce((present, change) => change(present, id), schema)
      schemas = {
        ...(params && { params: all(params) }),
        // Every request can have a query.
        query: all(query ?? NO_QUERY),
        ...(body && { body: all(body) }),
      }
      changed.set(op, schemas)
    }
    return schemas
  }
}

/** Validates the path, the body and the query of a request under the readings of its client; throws the first error. */
export function validate(op: Operation, request: FastifyRequest) {
  const { assumptions } = request.world.scenarios
  const { params, query, body } = assumptions.derive(createSchemas)(op)
  if (params) request.params = parsePart(params, request.params, 'params')
  if (body) {
    const text = request.bodyText ?? ''
    // Amounts are never rounded.
    if (/"amount"\s*:\s*[\d.]{17}/.test(text)) {
      const { amount } = (parseExact(text) ?? {}) as { amount?: unknown }
      if (typeof amount === 'string') request.body = { ...(request.body as object), amount }
    }
    request.body = parsePart(body, request.body, 'body')
  }
  if (query) {
    const given = assumptions.get(emptyQueryValue)(request.query as Record<string, unknown>)
    request.query = parsePart(query, given, 'querystring')
  }
}
