import * as z from 'zod'
import type { Condition as ConditionType, Json } from './condition.ts'
import { text } from './value-schema.ts'
import { OPERATIONS, OPERATORS } from './words.ts'

const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
/** Any value of JSON, of a type that needs no zod. */
export const AnyJson = z.json() as z.ZodType<Json, Json>
const Threshold = z.union([z.number(), z.string().regex(/^-?\d{1,15}(\.\d{1,6})?$/)])

const Comparison = z
  .strictObject({
    eq: AnyJson.optional().meta({ description: 'Equal.' }),
    ne: AnyJson.optional().meta({ description: 'Not equal, or not there.' }),
    in: z
      .array(Scalar)
      .min(1)
      .max(1_000)
      .optional()
      .meta({ description: 'Equal to one of these.' }),
    gt: Threshold.optional().meta({ description: 'Greater, for numbers and decimal texts.' }),
    gte: Threshold.optional().meta({ description: 'Greater or equal.' }),
    lt: Threshold.optional().meta({ description: 'Less.' }),
    lte: Threshold.optional().meta({ description: 'Less or equal.' }),
    starts_with: text(256).optional().meta({ description: 'A text that starts so.' }),
    ends_with: text(256).optional().meta({ description: 'A text that ends so.' }),
    contains: Scalar.optional().meta({
      description: 'A text that holds this, or a list with this entry.',
    }),
    matches: text(200)
      .optional()
      .meta({ description: 'A text in which this regular expression (RE2) finds something.' }),
    empty: z
      .boolean()
      .optional()
      .meta({ description: 'true: there, but "", null, [] or {}. false: neither.' }),
    absent: z.boolean().optional().meta({ description: 'true: not there. false: there.' }),
    paise: z
      .int()
      .min(0)
      .max(99)
      .optional()
      .meta({ description: 'An amount with just these paise.' }),
  })
  .meta({ id: 'Comparison', description: 'All of these must hold.' })

const FieldName = z
  .string()
  .regex(new RegExp(`^(?!(?:${OPERATORS.join('|')})$)`))
  .min(1)

/** What a value must be. */
export const Condition: z.ZodType<ConditionType, ConditionType> = z
  .lazy(() => z.union([Scalar, z.array(AnyJson), Comparison, z.record(FieldName, Condition)]))
  .meta({
    id: 'Condition',
    description: 'A plain value (equal), a comparison, or fields with conditions.',
  }) as never

/** Fields with conditions. */
export const Fields = z.record(FieldName, Condition)

const Operation = z
  .union([
    z.enum([...OPERATIONS, '*']),
    z.strictObject(
      Comparison.pick({
        eq: true,
        ne: true,
        in: true,
        starts_with: true,
        ends_with: true,
        contains: true,
        matches: true,
      }).shape,
    ),
  ])
  .meta({ description: 'An operationId, or "*" for every one.' })

/** Which calls a rule is about. */
export const When = z
  .strictObject(
    {
      operation: Operation.optional(),
      params: Fields.optional().meta({ description: 'Path parameters.' }),
      query: Fields.optional().meta({ description: 'Query parameters; compared as text.' }),
      headers: Fields.optional().meta({
        description: 'Request headers, their names in any case; compared as text.',
      }),
      body: Fields.optional().meta({ description: 'The JSON body.' }),
      item: Fields.optional().meta({ description: 'One document of POST /kyc.' }),
      user: Fields.optional().meta({ description: 'The user the call is about, as stored.' }),
      account: Fields.optional().meta({
        description: 'The receiving bank account, its numbers unmasked.',
      }),
    },
    {
      error: ({ input }) =>
        input === undefined
          ? 'is missing; say which calls, such as when: { operation: createTransaction }'
          : undefined,
    },
  )
  .meta({ id: 'When', description: 'Which calls: all of it must hold.' })

/** Which calls of the request log are meant: the conditions of a rule, and what an answered call has besides. */
export const CallMatch = z.strictObject({
  ...When.shape,
  method: z
    .enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])
    .optional()
    .meta({ description: 'The HTTP method.' }),
  path: z
    .union([z.string(), Comparison])
    .optional()
    .meta({ description: 'The path without its query and base path, such as /v1/user.' }),
  status: z
    .union([z.int().min(100).max(599), Comparison])
    .optional()
    .meta({ description: 'The HTTP status of the answer.' }),
})
