import { AnyMobile } from '../model/mobile.ts'
import { assumption } from './assumption.ts'
import { changeFields, type SchemaChange, unchanged } from './schema-change.ts'

/** Which mobiles POST /user accepts. */
export const mobileFormat = assumption<SchemaChange>({
  name: 'mobile_format',
  section: '4.1',
  concerns: ['createUser'],
  question: 'Which texts are a `mobile` in POST /user?',
  basis: 'custom',
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
