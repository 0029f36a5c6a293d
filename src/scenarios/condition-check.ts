import { didYouMean } from '../model/words.ts'
import { fieldsOf, isPlainField, isTextField } from './call-fields.ts'
import { Comparison } from './condition-schema.ts'
import { errorsOf } from './explain.ts'
import {
  type CallPart,
  type EventPart,
  OPERATIONS,
  type OperationId,
} from './operations-and-events.ts'
import { isComparison, isOperator, OPERATOR_NAMES, OPERATORS, type Operator } from './operators.ts'
import { isMapping, type Mapping, type Report } from './schema-parts.ts'
import { quoteValue } from './wording.ts'
import type { Path } from './yaml.ts'

const MAX_CONDITIONS = 100

/** The conditions of one part of a `when`; `field` is the nearest field above a condition. */
type Place = { part: CallPart | EventPart; field?: string }

/** Checks the conditions of one `when`, and counts them. */
export class ConditionCheck {
  readonly #report: Report
  readonly #operations: readonly OperationId[]
  #conditions = 0

  constructor(report: Report, operations: readonly OperationId[] = OPERATIONS) {
    this.#report = report
    this.#operations = operations
  }

  /** Checks the parts of a `when`. */
  checkParts(when: Mapping, parts: readonly (CallPart | EventPart)[]) {
    for (const part of parts) {
      const condition = when[part]
      if (condition === undefined) continue
      if (!isMapping(condition)) {
        const message = `\`${part}\` must be a mapping of fields to conditions, not ${quoteValue(condition)}`
        this.#report([part], message)
      } else if (isComparison(condition)) {
        const message = `\`${part}\` takes fields, not a comparison; put the comparison under a field, such as ${part}: { field: { ${Object.keys(condition)[0]}: … } }`
        this.#report([part], message)
      } else this.check(condition, [part], { part })
    }
  }

  /** Checks a condition and those below it. */
  check(condition: unknown, path: Path, place: Place) {
    if (++this.#conditions > MAX_CONDITIONS) {
      const message = `more than ${MAX_CONDITIONS} conditions in one \`when\`; split the rule`
      if (this.#conditions === MAX_CONDITIONS + 1) this.#report(path, message, 'key')
      return
    }
    if (!isMapping(condition)) {
      this.#checkIsQuoted(condition, path, place)
      return
    }
    const keys = Object.keys(condition)
    if (keys.length === 0)
      this.#report(path, 'an empty condition; write a value, { empty: true } or { absent: true }')
    else if (isComparison(condition)) this.checkComparison(condition, path, place)
    else if (keys.some(isOperator)) this.#checkMixedKeys(keys, path)
    else if (place.field !== undefined && isPlainField(place.part, place.field))
      this.#rejectFields(keys, path, place.field)
    else this.#checkFields(condition, path, place)
  }

  /** Checks the arguments of a comparison. */
  checkComparison(condition: Mapping, path: Path, place: Place) {
    for (const { path: below, of, message } of errorsOf(Comparison, condition, path))
      this.#report(below, message, of)
    for (const [operator, argument] of Object.entries(condition)) {
      const values = Array.isArray(argument) && operator === 'in' ? argument : [argument]
      if (!['any', 'scalar', 'list'].includes(OPERATORS[operator as Operator].argument)) continue
      for (const [i, value] of values.entries()) {
        const at = [...path, operator, ...(values === argument ? [i] : [])]
        this.#checkIsQuoted(value, at, place)
      }
    }
  }

  /** Rejects a number in a field of text, such as an account number, an id or a code. */
  #checkIsQuoted(value: unknown, path: Path, { part, field }: Place) {
    if (typeof value !== 'number' || field === undefined || part === 'query') return
    if (!isTextField(field)) return
    this.#report(path, `\`${field}\` is text, not a number: put ${quoteValue(value)} in quotes`)
  }

  #checkMixedKeys(keys: readonly string[], path: Path) {
    for (const key of keys) {
      if (isOperator(key)) continue
      const near = didYouMean(key, OPERATOR_NAMES)
      const message = near
        ? `unknown operator ${quoteValue(key)}${near}`
        : `${quoteValue(key)} is not an operator, and a comparison can have only operators; known: ${OPERATOR_NAMES.join(', ')}`
      this.#report([...path, key], message, 'key')
    }
  }

  /** Rejects fields below a field whose value is plain: they are misspelled operators. */
  #rejectFields(keys: readonly string[], path: Path, field: string) {
    for (const key of keys) {
      const hint = didYouMean(key, OPERATOR_NAMES) || `; known: ${OPERATOR_NAMES.join(', ')}`
      const message = `unknown operator ${quoteValue(key)} for \`${field}\`${hint}`
      this.#report([...path, key], message, 'key')
    }
  }

  #checkFields(condition: Mapping, path: Path, { part, field: parent }: Place) {
    const known = parent === undefined ? fieldsOf(part, this.#operations) : undefined
    for (const [field, inner] of Object.entries(condition)) {
      const at = [...path, field]
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
