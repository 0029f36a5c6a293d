import { AnyMobile } from '../model/user.ts'
import { assumption, changeFields, type SchemaChange, unchanged } from './assumption.ts'

export const duplicateUser = assumption<{ isRefused: boolean }>({
  name: 'duplicate_user',
  section: '4.1',
  concerns: ['createUser'],
  question: 'Can two users of a client have the same e-mail or mobile?',
  basis: 'guess',
  why: 'If the live service accepts the same person twice, the caller sees no error at all. Code that relies on the 409 makes duplicates there.',
  default: 'allowed',
  readings: {
    allowed: { does: 'yes: each POST /user creates a user', value: { isRefused: false } },
    conflict: {
      does: 'no: the response is 409 `user_exists`. The e-mail is compared in lower case, and a bare ten-digit mobile is equal to its +91 form',
      value: { isRefused: true },
    },
  },
})

export const mobileFormat = assumption<SchemaChange>({
  name: 'mobile_format',
  section: '4.1',
  concerns: ['createUser'],
  question: 'Which texts are a `mobile` in POST /user?',
  basis: 'convention',
  why: 'A number that cannot exist is usually a bug, and a caller that sends the strict form is right in both cases.',
  default: 'strict',
  readings: {
    strict: {
      does: 'ten digits that start with 6 to 9, with or without +91, or the E.164 form of another country',
      value: unchanged,
    },
    lenient: {
      does: 'any 7 to 15 digits, with or without +, spaces, hyphens, dots and brackets; stored as sent. +91, 91 or 0 before ten digits makes no other number',
      value: changeFields(['mobile'], () => AnyMobile),
    },
  },
})

export const kycBadDocument = assumption<{ failsCall: boolean }>({
  name: 'kyc_bad_document',
  section: '4.4',
  concerns: ['submitKyc'],
  question:
    'What does POST /kyc do with a document of an unknown type or name, a type and a name that do not match, or a date of birth before 1900 or in the future?',
  basis: 'contract',
  why: 'The contract reports the outcome of each document in its entry, not in the HTTP status. Code that reads only the HTTP status would miss the failure. A missing field, one of another type or form, and a date that doesn’t exist (31-02-1990) are 400 in both readings, because each record has a real `dob`.',
  default: 'entry_fails',
  readings: {
    entry_fails: {
      does: 'the response is 201; the entry of the document has a failed record, and the other documents are processed',
      value: { failsCall: false },
    },
    call_fails: {
      does: 'the response is 400 and no document is stored',
      value: { failsCall: true },
    },
  },
})
