import * as z from 'zod'
import type { Condition as ConditionType, Json } from './condition.ts'
import { text } from './value-schema.ts'
import { OPERATIONS, OPERATORS } from './words.ts'

const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
/** Any JSON value; its TypeScript type does not refer to zod. */
export const AnyJson = z.json() as z.ZodType<Json, Json>
const Threshold = z.union([z.number(), z.string().regex(/^-?\d{1,15}(\.\d{1,6})?$/)])

const Comparison = z
  .strictObject({
    eq: AnyJson.optional().meta({ description: 'Equal to this.' }),
    ne: AnyJson.optional().meta({ description: 'Not equal to this, or absent.' }),
    in: z
      .array(Scalar)
      .min(1)
      .max(1_000)
      .optional()
      .meta({ description: 'Equal to one of these.' }),
    gt: Threshold.optional().meta({
      description: 'Greater than this; for numbers and decimal text.',
    }),
    gte: Threshold.optional().meta({ description: 'Greater than or equal to this.' }),
    lt: Threshold.optional().meta({ description: 'Less than this.' }),
    lte: Threshold.optional().meta({ description: 'Less than or equal to this.' }),
    starts_with: text(256).optional().meta({ description: 'Text that starts with this.' }),
    ends_with: text(256).optional().meta({ description: 'Text that ends with this.' }),
    contains: Scalar.optional().meta({
      description: 'Text that contains this, or a list with this entry.',
    }),
    matches: text(200)
      .optional()
      .meta({ description: 'Text in which this regular expression (RE2) finds a match.' }),
    empty: z.boolean().optional().meta({
      description:
        'true: the value is "", null, [] or {}. false: it is another value. A missing field never matches.',
    }),
    absent: z.boolean().optional().meta({ description: 'true: absent. false: present.' }),
    paise: z
      .int()
      .min(0)
      .max(99)
      .optional()
      .meta({ description: 'An amount with these paise, such as 91 for 250.91.' }),
  })
  .meta({ id: 'Comparison', description: 'All operators must match.' })

const FieldName = z
  .string()
  .regex(new RegExp(`^(?!(?:${OPERATORS.join('|')})$)`))
  .min(1)

/** A condition on a value. */
export const Condition: z.ZodType<ConditionType, ConditionType> = z
  .lazy(() => z.union([Scalar, z.array(AnyJson), Comparison, z.record(FieldName, Condition)]))
  .meta({
    id: 'Condition',
    description: 'A plain value (must be equal), a comparison, or fields with conditions.',
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
  .meta({ description: 'An operationId, or "*" for all operations.' })

/** The calls that a rule matches. */
export const When = z
  .strictObject(
    {
      operation: Operation.optional(),
      params: Fields.optional().meta({ description: 'Path parameters.' }),
      query: Fields.optional().meta({ description: 'Query parameters; compared as text.' }),
      headers: Fields.optional().meta({
        description: 'Request headers, names are case-insensitive; compared as text.',
      }),
      body: Fields.optional().meta({ description: 'The JSON body.' }),
      item: Fields.optional().meta({ description: 'One document of POST /kyc.' }),
      user: Fields.optional().meta({ description: 'The user of the call, as stored.' }),
      account: Fields.optional().meta({
        description: 'The receiving bank account, with unmasked numbers.',
      }),
    },
    {
      error: ({ input }) =>
        input === undefined
          ? 'is missing; specify the calls, such as when: { operation: createTransaction }'
          : undefined,
    },
  )
  .meta({ id: 'When', description: 'The calls that the rule matches. All conditions must match.' })

/** A match on calls of the request log: the conditions of a rule, and method, path and status. */
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
    .meta({ description: 'The HTTP status of the response.' }),
})
