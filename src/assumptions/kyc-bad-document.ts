import { assumption } from './assumption.ts'

/** Whether a bad document among good ones in POST /kyc fails the whole call. */
export const kycBadDocument = assumption<{ failsCall: boolean }>({
  name: 'kyc_bad_document',
  section: '4.4',
  concerns: ['submitKyc'],
  question:
    'What does POST /kyc do with a document of an unknown type or name, a type and a name that do not match, or a date of birth before 1900 or in the future?',
  basis: 'stated',
  why: 'The contract reports the outcome of each document in its entry, not in the HTTP status. Code that reads only the HTTP status would miss the failure. A missing field, one of another type or form, and a date that doesn’t exist (31-02-1990) are 400 in both readings, because each record has a real `dob`.',
  default: 'entry_fails',
  readings: {
    entry_fails: {
      does: 'the response is 201; the entry of the document has `status` false and a failed record, and the other documents are processed',
      value: { failsCall: false },
    },
    call_fails: {
      does: 'the response is 400 and no document is stored',
      value: { failsCall: true },
    },
  },
})
