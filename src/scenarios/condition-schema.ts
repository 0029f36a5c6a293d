import { RE2JS } from 're2js'
import * as z from 'zod'
import { isObject } from '../model/formats.ts'
import { DOCUMENT_OF, KycItem } from '../model/kyc.ts'
import { paiseOf } from '../model/payment.ts'
import { didYouMean, quoteValue } from '../model/words.ts'
import { fieldsOf, isPlainField, isTextField } from './call-fields.ts'
import type { Condition as ConditionType } from './condition.ts'
import { errorsOf } from './explain.ts'
import { OPERATIONS, type OperationId, type Part } from './operations-and-events.ts'
import {
  type ArgumentKind,
  isComparison,
  isOperator,
  OPERATOR_NAMES,
  OPERATORS,
  type Operator,
} from './operators.ts'
import { AnyJson, checkedByParent, type Mapping, mustBe, type Report } from './schema-parts.ts'
import type { Path } from './yaml.ts'

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

const MAX_PATTERN = 100
// The worst pattern found of this size takes 10 ms on the 512 characters that are searched; one of 454 took 236 ms on 4 KiB.
// A string of 100 letters has 102 instructions.
const MAX_PATTERN_SIZE = 102
// A pattern is compiled to learn its size. That takes 7 ms with this sum of repeats, and without a limit up to 70 ms.
const MAX_REPEATS = 3_000

const tooLarge = (what: string) => `is too large: ${what}; use fewer or smaller repeats`

function patternError(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN) return undefined
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
const decimal = { error: mustBe('a number, or a decimal text of at most 15 digits and 6 decimals') }
const paise = { error: mustBe('a whole number from 0 to 99') }

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
  pattern: nonEmptyText(MAX_PATTERN).superRefine((pattern, context) => {
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

export const fieldsSchema = (description?: string) =>
  checkedByParent<Record<string, ConditionType>>(
    () => z.record(FieldName, Condition),
    description === undefined ? {} : { description },
  )

const MAX_CONDITIONS = 100

/** The conditions of one part of a `when`; `field` is the nearest field above a condition. */
type Place = { part: Part; field?: string }

/** Checks the conditions of one `when`, and counts them. */
export class ConditionCheck {
  readonly #report: Report
  readonly #operations: readonly OperationId[]
  #conditions = 0

  constructor(report: Report, operations: readonly OperationId[] = OPERATIONS) {
    this.#report = report
    this.#operations = operations
  }

  checkParts(when: Mapping, parts: readonly Part[]) {
    for (const part of parts) {
      const condition = when[part]
      if (condition === undefined) continue
      if (!isObject(condition)) {
        const message = `\`${part}\` must be a mapping of fields to conditions, not ${quoteValue(condition)}`
        this.#report([part], message)
      } else if (isComparison(condition)) {
        const message = `\`${part}\` takes fields, not a comparison; put the comparison under a field, such as ${part}: { field: { ${Object.keys(condition)[0]}: … } }`
        this.#report([part], message)
      } else this.check(condition, [part], { part })
    }
  }

  check(condition: unknown, path: Path, place: Place) {
    if (++this.#conditions > MAX_CONDITIONS) {
      const message = `more than ${MAX_CONDITIONS} conditions in one \`when\`; split the rule`
      if (this.#conditions === MAX_CONDITIONS + 1) this.#report(path, message, 'key')
      return
    }
    if (!isObject(condition)) {
      this.#checkIsQuoted(condition, path, place)
      this.#checkIsPossible(condition, path, place)
      return
    }
    const keys = Object.keys(condition)
    if (keys.length === 0)
      this.#report(path, 'an empty condition; write a value, { empty: true } or { absent: true }')
    else if (isComparison(condition)) this.checkComparison(condition, path, place)
    else if (keys.some(isOperator)) this.#rejectKeys(keys, path)
    else if (place.field !== undefined && isPlainField(place.part, place.field))
      this.#rejectKeys(keys, path, place.field)
    else this.#checkFields(condition, path, place)
  }

  checkComparison(condition: Mapping, path: Path, place: Place) {
    for (const { path: below, of, message } of errorsOf(Comparison, condition, path))
      this.#report(below, message, of)
    for (const [operator, argument] of Object.entries(condition)) {
      const values = Array.isArray(argument) && operator === 'in' ? argument : [argument]
      if (!['any', 'scalar', 'list'].includes(OPERATORS[operator as Operator].argument)) continue
      for (const [i, value] of values.entries()) {
        const at = [...path, operator, ...(values === argument ? [i] : [])]
        this.#checkIsQuoted(value, at, place)
        if (operator === 'eq') this.#checkIsPossible(value, at, place)
      }
    }
  }

  /** Rejects a number that is not what was written, or in a field of text, such as an account number, an id or a code. */
  #checkIsQuoted(value: unknown, path: Path, { part, field }: Place) {
    if (typeof value !== 'number') return
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER)
      return this.#report(path, 'a number above 2^53, which JSON rounds: put its digits in quotes')
    if (field === undefined || part === 'query' || !isTextField(field)) return
    this.#report(path, `\`${field}\` is text, not a number: put ${quoteValue(value)} in quotes`)
  }

  /** Rejects a value that no call can have, if another form was meant. */
  #checkIsPossible(value: unknown, path: Path, { part, field = '' }: Place) {
    if (typeof value !== 'string') return
    const say = (why: string, form: string) =>
      this.#report(path, `${why}, so ${quoteValue(value)} never matches; write ${form}`)
    if (field === 'amount' && paiseOf(value) === undefined) {
      const [, sign, number] = /^\s*([<>]=?)?\s*([\d,]+(?:\.\d+)?)\s*$/.exec(value) ?? []
      const plain = number?.replaceAll(',', '')
      const operator = { '>': 'gt', '>=': 'gte', '<': 'lt', '<=': 'lte' }[sign ?? '']
      const form = operator ? `{ ${operator}: ${plain} }` : (plain ?? '1500.50')
      say('`amount` is a number or a decimal string', `amount: ${form}`)
    }
    const type = Object.keys(DOCUMENT_OF).find((one) => DOCUMENT_OF[one] === value)
    if (part === 'item' && field === 'document_type' && type !== undefined)
      say('`document_type` is pid or tid', `document_type: ${type}, or document_name: ${value}`)
  }

  /** Rejects keys that are no operators, beside operators or below a field whose value is plain: they are misspelled. */
  #rejectKeys(keys: readonly string[], path: Path, field?: string) {
    const known = `; known: ${OPERATOR_NAMES.join(', ')}`
    for (const key of keys) {
      if (isOperator(key)) continue
      const near = didYouMean(key, OPERATOR_NAMES)
      const unknown = `unknown operator ${quoteValue(key)}${field === undefined ? '' : ` for \`${field}\``}`
      const message =
        near || field !== undefined
          ? `${unknown}${near || known}`
          : `${quoteValue(key)} is not an operator, and a comparison can have only operators${known}`
      this.#report([...path, key], message, 'key')
    }
  }

  /** The fields of a document are in the list `kyc`, which no condition reads. */
  #checkIsNoDocument(field: string, path: Path) {
    const isKyc = this.#operations.length === 1 && this.#operations[0] === 'submitKyc'
    if (!isKyc || field === 'kyc' || !Object.hasOwn(KycItem.shape, field)) return
    const message = `\`${field}\` is a field of each document, not of the body; write item: { ${field}: … }`
    this.#report(path, message, 'key')
  }

  #checkFields(condition: Mapping, path: Path, { part, field: parent }: Place) {
    const known = parent === undefined ? fieldsOf(part, this.#operations) : undefined
    for (const [field, inner] of Object.entries(condition)) {
      const at = [...path, field]
      if (part === 'body' && parent === undefined) this.#checkIsNoDocument(field, at)
      if (known?.closed && !known.fields.includes(field) && this.#conditions < MAX_CONDITIONS) {
        const has =
          known.fields.length > 0
            ? `it has ${known.fields.join(', ')}`
            : 'these operations have none'
        const message = `\`${part}\` has no ${quoteValue(field)}${didYouMean(field, known.fields) || `; ${has}`}`
        this.#report(at, message, 'key')
      }
      this.check(inner, at, { part, field })
    }
  }
}
