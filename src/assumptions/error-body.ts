import type { FieldError } from '../model/errors.ts'
import { assumption } from './assumption.ts'

/** An error as its body shows it. */
type ShownError = {
  status: number
  code: string
  message: string
  errors?: readonly FieldError[]
}

/** The form of error bodies: their content type, and their text. */
export type ErrorForm = { type: string; text: (error: ShownError) => string }

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escaped = (text: string) => text.replace(/[&<>]/g, (character) => ENTITIES[character]!)

/** The form of every error outside the service, such as those of the admin API. */
export const ENVELOPE: ErrorForm = {
  type: 'application/json; charset=utf-8',
  text: ({ status, code, message, errors = [] }) =>
    JSON.stringify({ status: false, code: status, error: code, message, data: null, errors }),
}

/** What the body of an error contains. */
export const errorBody = assumption<ErrorForm>({
  name: 'error_body',
  section: '7',
  concerns: ['all calls'],
  question: 'What is the body of an error?',
  basis: 'guessed',
  why: 'It is the envelope of the successful calls, and it says most. Code that reads a field which is not there fails loudly.',
  default: 'envelope',
  readings: {
    envelope: {
      does: 'the envelope with `error`, `message` and `errors` ([errors](errors.md)). The admin API and a request that is not valid HTTP have it always',
      value: ENVELOPE,
    },
    message_only: {
      does: '`{"message": "…"}`: only the HTTP status says what kind of error it is',
      value: { ...ENVELOPE, text: ({ message }) => JSON.stringify({ message }) },
    },
    html: {
      does: 'a small page of type `text/html`, as gateways send it',
      value: {
        type: 'text/html; charset=utf-8',
        text: ({ status, message }) =>
          `<!DOCTYPE html>\n<html><head><title>Error ${status}</title></head><body><h1>Error ${status}</h1><p>${escaped(message)}</p></body></html>\n`,
      },
    },
  },
})
