import { AnyEmail, AnyMobile } from '../model/user.ts'
import { assumption, changeFields, type SchemaChange, unchanged } from './assumption.ts'

export const duplicateUser = assumption<{ isRefused: boolean }>({
  name: 'duplicate_user',
  section: '4.1',
  concerns: ['createUser'],
  question: 'Can two users have the same e-mail or mobile?',
  basis: 'guess',
  why: 'Code that relies on the 409 makes duplicates.',
  default: 'allowed',
  readings: {
    allowed: { does: 'yes', value: { isRefused: false } },
    conflict: {
      does: 'no, 409 `user_exists`, ignoring case and +91',
      value: { isRefused: true },
    },
  },
})

export const emailFormat = assumption<SchemaChange>({
  name: 'email_format',
  section: '4.1',
  concerns: ['createUser'],
  question: 'Which strings are an `email`?',
  basis: 'convention',
  why: 'Nothing: the strict form is right in both.',
  default: 'strict',
  readings: {
    strict: {
      does: 'ASCII, with one `@` and a domain with a dot, whose last part has two letters or more',
      value: unchanged,
    },
    lenient: {
      does: 'one `@` and a domain with a dot, in letters of any script',
      value: changeFields(['email'], () => AnyEmail),
    },
  },
})

export const mobileFormat = assumption<SchemaChange>({
  name: 'mobile_format',
  section: '4.1',
  concerns: ['createUser'],
  question: 'Which strings are a `mobile`?',
  basis: 'convention',
  why: 'Nothing: the strict form is right in both.',
  default: 'strict',
  readings: {
    strict: {
      does: 'ten digits starting with 6 to 9, with or without +91, or E.164 of another country',
      value: unchanged,
    },
    lenient: {
      does: "7 to 15 digits with +, spaces, hyphens, dots or brackets. A +91, 91 or 0 prefix doesn't make it a different number",
      value: changeFields(['mobile'], () => AnyMobile),
    },
  },
})

export const kycBadDocument = assumption<{ failsCall: boolean }>({
  name: 'kyc_bad_document',
  section: '4.4',
  concerns: ['submitKyc'],
  question: 'What does POST /kyc do with a bad document?',
  basis: 'contract',
  why: 'Code that reads only the HTTP status misses the failure.',
  default: 'entry_fails',
  readings: {
    entry_fails: {
      does: '201; its entry fails, the others are processed',
      value: { failsCall: false },
    },
    call_fails: {
      does: '400; nothing is stored',
      value: { failsCall: true },
    },
  },
})
