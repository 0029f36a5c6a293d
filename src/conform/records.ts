import { PanResult } from '../model/kyc.ts'
import { valueAt } from '../model/validation-errors.ts'
import type { FindingSource, Findings } from './findings.ts'
import type { Row } from './lists.ts'
import { checkShape } from './shape.ts'

/** Checks the rules of the contract that a schema cannot express. `field` is the path of the record. */
type RecordCheck = (findings: Findings, source: FindingSource, record: Row, field: string) => void

/** Interface 2.4: a pending payment has no UTR, and the account belongs to the receiver. */
export const checkTransaction: RecordCheck = (findings, source, record, field) => {
  const { utr, transaction_status, benif_bank_id, to_user_id, benif_bank } = record
  if (transaction_status === 'pending' && typeof utr === 'string')
    findings.addDifference(source, `${field}.utr`, 'null while pending', 'a text')
  const checkSame = (name: string, expected: unknown, expectedField: string) => {
    const found = valueAt(benif_bank, [name])
    if (typeof found === 'string' && found !== expected)
      findings.addDifference(
        source,
        `${field}.benif_bank.${name}`,
        `the ${expectedField} of the transaction`,
        findings.formatValue(found, name),
      )
  }
  checkSame('bank_id', benif_bank_id, 'benif_bank_id')
  checkSame('user_id', to_user_id, 'to_user_id')
}

/** Interface 2.5: only a completed payment has a UTR. */
export const checkHistory: RecordCheck = (findings, source, { status, utr }, field) => {
  if ((status === 'PENDING' || status === 'PROCESSING') && typeof utr === 'string')
    findings.addDifference(source, `${field}.utr`, 'null before completion', 'a text')
}

/** Interface 2.2: a record that the system verified has a result, and the result of a PAN has these fields. */
export const checkKyc: RecordCheck = (findings, source, record, field) => {
  const { verified_by, document_type, metadata } = record
  if (verified_by === 'system' && metadata === null)
    findings.addDifference(source, `${field}.metadata`, 'the result of the system', 'null')
  const path = ['response', 'data', 'result']
  const result = valueAt(metadata, path)
  // A live service may have none while its source is down.
  if (document_type !== 'tid' || result === null || result === undefined) return
  checkShape(findings, source, PanResult, result, { at: [`${field}.metadata`, ...path] })
}

/** Returns a function that checks that a field equals a requested or sent value; `expected` describes that value. */
export const createEqualityCheck =
  (
    findings: Findings,
    source: FindingSource,
    expected: string,
    { isSandboxDefault = false } = {},
  ) =>
  (field: string, found: unknown, value: unknown): void => {
    // The check of the schema reports a wrong type.
    if (found === value || typeof found !== typeof value) return
    const add = isSandboxDefault ? findings.addNote : findings.addDifference
    add(
      source,
      field,
      expected,
      findings.formatValue(found, field.slice(field.lastIndexOf('.') + 1)),
    )
  }
