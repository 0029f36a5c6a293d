import { RE2JS } from 're2js'
import * as z from 'zod'
import type { Condition as ConditionType } from './condition.ts'
import { type ArgumentKind, OPERATOR_NAMES, OPERATORS, type Operator } from './operators.ts'
import { AnyJson, checkedByParent, mustBe } from './schema-parts.ts'

const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: mustBe('text, a number, true, false or null'),
})

const nonEmptyText = (max: number) =>
  z
    .string({ error: mustBe('a non-empty text') })
    .min(1, { error: mustBe('a non-empty text') })
    .max(max, {
      error: ({ input }) => `must have at most ${max} characters, not ${String(input).length}`,
    })

// Matching time grows with pattern size times input length: size 500 on 4 KiB takes about 50 ms in the worst case.
const MAX_PATTERN_SIZE = 500
// A pattern is compiled to learn its size. That takes 7 ms with this sum of repeats, and without a limit up to 70 ms.
const MAX_REPEATS = 3_000

const tooLarge = (what: string) => `is too large: ${what}; use fewer or smaller repeats`

function patternError(pattern: string): string | undefined {
  const repeats = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)]
  const sum = repeats.reduce((total, [, min, max]) => total + Number(max || min), 0)
  if (sum > MAX_REPEATS)
    return tooLarge(`its repeats have a sum of ${sum}, and the maximum is ${MAX_REPEATS}`)
  try {
    const size = RE2JS.compile(pattern).programSize()
    if (size <= MAX_PATTERN_SIZE) return undefined
    return tooLarge(
      `RE2 expands it to ${size} instructions, and the maximum is ${MAX_PATTERN_SIZE}`,
    )
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : ''
    return `is not a valid RE2 regular expression (${why.slice(0, 80)}); RE2 has no backreferences and no look-around`
  }
}

const MAX_LIST = 1_000
const decimal = { error: mustBe('a number or a decimal text') }
const paise = { error: mustBe('a whole number from 0 to 99') }

/** What each kind of argument accepts. */
const ARGUMENTS = {
  any: AnyJson,
  scalar: Scalar,
  list: z
    .array(Scalar, { error: mustBe('a list of values') })
    .min(1, { error: 'must have at least 1 value; an empty list matches nothing' })
    .max(MAX_LIST, {
      error: ({ input }) => `must have at most ${MAX_LIST} values, not ${(input as []).length}`,
    }),
  threshold: z.union([z.number(), z.string().regex(/^-?\d{1,15}(\.\d{1,6})?$/, decimal)], decimal),
  affix: nonEmptyText(256),
  pattern: nonEmptyText(200).superRefine((pattern, context) => {
    const message = patternError(pattern)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  }),
  boolean: z.boolean({ error: mustBe('true or false') }),
  paise: z.int(paise).min(0, paise).max(99, paise),
} satisfies Record<ArgumentKind, z.ZodType>

type Arguments<O extends Operator> = {
  [K in O]: z.ZodOptional<(typeof ARGUMENTS)[(typeof OPERATORS)[K]['argument']]>
}

const comparisonOf = <O extends Operator>(operators: readonly O[]) =>
  z.strictObject(
    Object.fromEntries(
      operators.map((operator) => {
        const { argument, description } = OPERATORS[operator]
        return [operator, ARGUMENTS[argument].optional().meta({ description })]
      }),
    ) as Arguments<O>,
  )

/** A comparison with any of the operators. */
export const Comparison = comparisonOf(OPERATOR_NAMES).meta({
  id: 'Comparison',
  description: 'All operators must match.',
})

/** A comparison of a name, such as that of an operation. */
export const NameComparison = comparisonOf([
  'eq',
  'ne',
  'in',
  'starts_with',
  'ends_with',
  'contains',
  'matches',
])

const FieldName = z
  .string()
  .regex(new RegExp(`^(?!(?:${OPERATOR_NAMES.join('|')})$)`))
  .min(1)

/** A condition on a value. */
export const Condition: z.ZodType<ConditionType, ConditionType> = checkedByParent(
  () =>
    z.union([
      Scalar,
      z.array(AnyJson),
      Comparison,
      z.record(FieldName, Condition),
    ]) as unknown as z.ZodType<ConditionType>,
  {
    id: 'Condition',
    description: 'A plain value (must be equal), a comparison, or fields with conditions.',
  },
)

/** Fields with conditions. */
export const fieldsSchema = (description?: string) =>
  checkedByParent<Record<string, ConditionType>>(
    () => z.record(FieldName, Condition),
    description === undefined ? {} : { description },
  )
