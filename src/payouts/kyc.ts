import { listOrder } from '../assumptions/lists.ts'
import { entryStatus } from '../assumptions/responses.ts'
import { kycBadDocument, pidAndTid } from '../assumptions/users.ts'
import { yearFirst } from '../model/formats.ts'
import {
  badDocument,
  countryOf,
  DOCUMENT_OF,
  type KycItem,
  type KycRow,
  type KycStatus,
  PAN_NOT_FOUND,
  panMetadata,
  panResult,
  type SubmitKyc,
} from '../model/kyc.ts'
import { maskLogText, quoteInput } from '../model/mask.ts'
import { validationFailed } from '../model/validation-errors.ts'
import type { KycStep } from '../scenarios/compiled.ts'
import { listPage, visibleRows, WHOLE_LIST } from '../tables/list-page.ts'
import { newIdIn, type WorldContext } from '../tables/world-context.ts'
import { createLifecycle, type Transition } from './lifecycle.ts'
import type { Users } from './users.ts'

const PAN = /^[A-Z]{5}[0-9]{4}[A-Z]$/
// The fourth letter of a PAN.
const HOLDER_TYPES = 'ABCFGHJLPT'
const AADHAAR = /^\d{12}$/
const AADHAAR_DECIDED_AFTER_MS = 5_000

const INVALID_PAN: KycStep = {
  status: 'failed',
  after_ms: 0,
  message: 'The PAN is empty or malformed',
  statusCode: 400,
  result: PAN_NOT_FOUND,
}

/** The steps of a document that no scenario rule matches (defaults: KYC). */
function defaultSteps({ document_type, document_number }: KycItem): readonly KycStep[] {
  if (document_type === 'tid') return [{ status: 'success', after_ms: 0 }]
  if (document_number === '') return [{ status: 'pending', after_ms: 0 }]
  return [
    { status: 'pending', after_ms: 0 },
    { status: 'success', after_ms: AADHAAR_DECIDED_AFTER_MS },
  ]
}

/** The failed step of a PAN that cannot exist; else `undefined`. */
function panError(number: string): KycStep | undefined {
  if (PAN.test(number.toUpperCase()) && !PAN.test(number))
    return { ...INVALID_PAN, message: 'The PAN has small letters; send it in capitals' }
  if (!PAN.test(number)) return INVALID_PAN
  const letter = number[3]!
  if (HOLDER_TYPES.includes(letter)) return undefined
  const message = `The fourth letter, ${letter}, isn't a valid holder type; use P for a person, C for a company, or one of A, B, F, G, H, J, L, T`
  return { ...INVALID_PAN, message }
}

/** The failed step of a bad document or a malformed number, whatever the scenario says; else `undefined`. */
function formatError(item: KycItem, today: string): KycStep | undefined {
  const { document_type, document_number } = item
  const bad = badDocument(item, today)
  if (bad) return { ...INVALID_PAN, message: `${bad.field} ${bad.message}` }
  if (document_type === 'tid') return panError(document_number)
  if (document_number === '' || AADHAAR.test(document_number)) return undefined
  return { status: 'failed', after_ms: 0, message: 'The Aadhaar number is not twelve digits' }
}

const RESULT: Readonly<Record<KycStatus, string>> = {
  success: 'verified successfully',
  pending: 'verification is pending',
  failed: 'verification failed',
}

function rejectBadDocuments(items: readonly KycItem[], today: string) {
  const errors = items.flatMap((item, i) => {
    const bad = badDocument(item, today)
    if (!bad) return []
    const { field, code, message } = bad
    const found = JSON.stringify(quoteInput(item[field]))
    return [{ field: `kyc[${i}].${field}`, code, message: `${message}; found ${found}` }]
  })
  if (errors.length > 0) throw validationFailed(errors)
}

function messageOf(type: KycItem['document_type'], step: Transition<KycStep>): string {
  return (
    step.message ?? step.reason ?? `${type === 'tid' ? 'PAN' : 'Aadhaar'} ${RESULT[step.status]}`
  )
}

const hintFor = (from: KycStatus, hasLateSuccess: boolean) =>
  from === 'failed' && hasLateSuccess
    ? '. It may become success.'
    : '; only a pending record can become success or failed.'

/** KYC records: the system decides a PAN immediately and an Aadhaar later (defaults: KYC). */
export function createKyc(context: WorldContext & { users: Users }) {
  const { store, clock, random, assumed, users } = context
  const { kyc } = store.tables
  const today = () => clock.iso().slice(0, 10)

  function metadataOf(
    { document_type, document_number }: Pick<KycRow, 'document_type' | 'document_number'>,
    step: Transition<KycStep>,
  ) {
    if (document_type !== 'tid') return null
    const ok = step.status === 'success'
    const statusCode = step.statusCode ?? (step.status === 'pending' ? 503 : 200)
    const result = step.result === null ? null : panResult(document_number, statusCode, step.result)
    return panMetadata(ok, messageOf(document_type, step), statusCode, result, {
      requestId: `${clock.now()}-${random.uuid()}`,
      transactionId: random.uuid(),
    })
  }

  /** The newest successful record of a row's user and document type; an older record that succeeds late does not replace it. */
  const latestSuccess = ({ user_id, document_type }: KycRow): string | undefined =>
    kyc
      .page('user', user_id, 0, Number.POSITIVE_INFINITY)
      .find(({ row }) => row.document_type === document_type && row.kyc_status === 'success')?.id

  const { begin, ...lifecycle } = createLifecycle<'kyc', KycStep>(context, {
    kind: 'kyc',
    noun: 'KYC record',
    statusOf: (row) => row.kyc_status,
    apply: (row, step) => ({
      ...row,
      kyc_status: step.status,
      metadata: metadataOf(row, step),
      updated_at: clock.iso(),
    }),
    /** Sets the record's id on the user; `pid_and_tid` says which ids a response shows. */
    onEntered(row) {
      const { user_id, kyc_id, document_type, kyc_status } = row
      const isShown =
        kyc_status === 'success'
          ? latestSuccess(row) === kyc_id
          : row.created_at === row.updated_at && assumed.get(pidAndTid) === 'on_submission'
      if (isShown && document_type in DOCUMENT_OF) users.link(user_id, { [document_type]: kyc_id })
    },
    hintFor,
  })

  function submitItem(userId: string, item: KycItem, steps: readonly KycStep[], lag?: number) {
    const first = steps[0]!
    const now = clock.iso()
    const kyc_id = newIdIn(kyc, random.uuid)
    const { document_type, document_name, document_number } = item
    const row: KycRow = {
      kyc_id,
      user_id: userId,
      country: countryOf(item.Nationality),
      // Responses show them, and a caller can mix up the fields of a document.
      document_type: maskLogText(document_type),
      document_name: maskLogText(document_name),
      document_number,
      full_name: item.nameOnCard,
      dob: yearFirst(item.dateOfBirth),
      kyc_status: first.status,
      verified_by: document_type === 'tid' ? 'system' : 'client',
      metadata: metadataOf(item, first),
      created_at: now,
      updated_at: now,
    }
    const entry = begin(row, steps, lag)
    return {
      status: assumed.get(entryStatus)(first.status !== 'failed'),
      message: messageOf(document_type, first),
      entry,
    }
  }

  return {
    ...lifecycle,
    check({ user_id, kyc: items }: SubmitKyc) {
      if (assumed.get(kycBadDocument) === 'call_fails') rejectBadDocuments(items, today())
      users.get(user_id, 'user_id')
    },
    /** Stores each item as a record. `stepsOfItems` has the steps of a scenario for each item, if there are any. */
    submit: (
      { user_id, kyc: items }: SubmitKyc,
      stepsOfItems: readonly (readonly KycStep[] | null | undefined)[] = [],
      lag?: number,
    ) =>
      store.change(() => {
        users.get(user_id, 'user_id')
        return items.map((item, i) => {
          const bad = formatError(item, today())
          const steps = bad ? [bad] : (stepsOfItems[i] ?? defaultSteps(item))
          return submitItem(user_id, item, steps, lag)
        })
      }),
    /** The records of a user that reads find, or all of them. */
    ofUser: (userId: string, rows = visibleRows(kyc, clock)) =>
      listPage(rows, 'user', userId, WHOLE_LIST, assumed.get(listOrder)).entries,
  }
}
