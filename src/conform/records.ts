import { valueAt } from '../model/issues.ts'
import { PanResult } from '../model/kyc.ts'
import type { Findings, Place } from './findings.ts'
import type { Row } from './lists.ts'
import { holdShape } from './shape.ts'

/** Rules of the contract about one record, which no schema of a field can say. `field` is where the record stands. */
type Rule = (findings: Findings, place: Place, record: Row, field: string) => void

/** Interface 2.4: no UTR while pending, and the account is that of the receiver. */
export const holdTransaction: Rule = (findings, place, record, field) => {
  const { utr, transaction_status, benif_bank_id, to_user_id, benif_bank } = record
  if (transaction_status === 'pending' && typeof utr === 'string')
    findings.differs(place, `${field}.utr`, 'null while pending', 'a text')
  const same = (name: string, wanted: unknown, whose: string) => {
    const found = valueAt(benif_bank, [name])
    if (typeof found === 'string' && found !== wanted)
      findings.differs(
        place,
        `${field}.benif_bank.${name}`,
        `the ${whose} of the transaction`,
        findings.shown(found, name),
      )
  }
  same('bank_id', benif_bank_id, 'benif_bank_id')
  same('user_id', to_user_id, 'to_user_id')
}

/** Interface 2.5: the UTR is set after completion. */
export const holdHistory: Rule = (findings, place, { status, utr }, field) => {
  if ((status === 'PENDING' || status === 'PROCESSING') && typeof utr === 'string')
    findings.differs(place, `${field}.utr`, 'null before completion', 'a text')
}

/** Interface 2.2: what the system verified has the result, and that of a PAN has these fields. */
export const holdKyc: Rule = (findings, place, record, field) => {
  const { verified_by, document_type, metadata } = record
  if (verified_by === 'system' && metadata === null)
    findings.differs(place, `${field}.metadata`, 'the result of the system', 'null')
  const path = ['response', 'data', 'result']
  const result = valueAt(metadata, path)
  // The sandbox has none where the source of the verification was down.
  if (document_type !== 'tid' || result === null || result === undefined) return
  holdShape(findings, place, PanResult, result, { at: [`${field}.metadata`, ...path] })
}

/** Holds fields that must be the same as what was asked for or sent; `expected` says which. */
export const sameAs =
  (findings: Findings, place: Place, expected: string, { ours = false } = {}) =>
  (field: string, found: unknown, wanted: unknown): void => {
    // Of another type it is told by its schema.
    if (found === wanted || typeof found !== typeof wanted) return
    const tell = ours ? findings.note : findings.differs
    tell(place, field, expected, findings.shown(found, field.slice(field.lastIndexOf('.') + 1)))
  }
