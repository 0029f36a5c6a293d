const SURROGATE = /[\ud800-\udfff]/

/** Masks a string except for its first `first` and last `last` characters; a string with no more characters is all X. */
function maskMiddle(value: string, first: number, last: number): string {
  // Half of a surrogate pair is no character. A copy of the characters takes time, and nearly no text needs it.
  const characters = SURROGATE.test(value) ? [...value] : value
  const { length } = characters
  if (length <= first + last) return 'X'.repeat(length)
  const [start, end] = [characters.slice(0, first), characters.slice(-last)]
  const mask = 'X'.repeat(length - first - last)
  return typeof start === 'string' ? `${start}${mask}${end}` : [...start, mask, ...end].join('')
}

/** Replaces all but the last four characters with X; four or fewer become all X. */
export const maskNumber = (value: string): string => maskMiddle(value, 0, 4)

/** Masks an IFSC except for the first four and last three characters. */
export const maskIfsc = (value: string): string => maskMiddle(value, 4, 3)

const WHOLE_PAN = /^[A-Z]{5}\d{4}[A-Z]$/i
const MASKED_RUN = /([Xx*#\u2022\u00b7])\1{2}|^[Xx*#\u2022\u00b7]*$/

/** Whether a number is partly masked, with any mask character; an empty number counts as masked. */
export const isPartlyMasked = (value: string) => MASKED_RUN.test(value) && !WHOLE_PAN.test(value)

// Numbers hide in free text too: account and Aadhaar numbers, but no amounts, PANs, secrets, tokens.
const SENSITIVE_TEXT =
  /(?<!\d)(?!\d{9,15}\.\d\d(?!\d))\d{9,}|(?<![A-Za-z0-9])[A-Za-z]{5}\d{4}[A-Za-z](?![A-Za-z0-9])|whsec_[A-Za-z0-9+/=]+|sbx_[\w-]+/g
const USER_INFO = /(?<=:\/\/)[^/?#\s]*(?=@)/g

export const HIDDEN = 'XXXX'

/** Masks what looks like a number of a person, a secret, a token or a URL's user info inside a string. */
export const maskText = (value: string): string =>
  value
    .replace(USER_INFO, HIDDEN)
    .replace(SENSITIVE_TEXT, (found) => (found.startsWith('sbx_') ? HIDDEN : maskNumber(found)))

const SECRET_NAME = /authorization|cookie|token|secret|signature|passw|credential|api[-_]?key/i
const NUMBER_NAME =
  /(?:account|document|card|pan|aadhaa?r)_?(?:number|no)$|^(?:utr|rrn|pan|aadhaa?r)$/i
const IFSC_NAME = /ifsc/i

/** Whether a field of this name holds the number of a person, of an account or of a payment. */
export const isNumberName = (name: string): boolean => NUMBER_NAME.test(name)

export const isSecretName = (name: string): boolean => SECRET_NAME.test(name)

// An id is not masked, even if it is all digits; the quantifiers are bounded so that no text takes long.
const UUID_OR_SENSITIVE =
  /(?<![a-z0-9])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{4}0[a-z0-9]{6}|\d{4}[ -]\d{4}[ -]\d{4})(?![a-z0-9])|\b(?:bearer|basic) +(?!<token>)\S+/gi
const IS_UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const SECRET_IN_URL =
  /(?<=[?&;][^=&#?;\s]{0,40}(?:token|secret|signature|key|passw)[^=&#?;\s]{0,40}=)[^&#\s]+/gi

function maskMatch(found: string): string {
  if (/^(?:bearer|basic) /i.test(found)) return `${found.slice(0, found.indexOf(' '))} ${HIDDEN}`
  return found.length === 11 ? maskIfsc(found) : maskNumber(found)
}

/** Masks a string of a request for a log: numbers of persons, IFSCs, tokens and secrets in URLs; ids stay. */
export function maskLogText(value: string): string {
  let masked = ''
  let rest = 0
  const text = value.replace(USER_INFO, HIDDEN).replace(SECRET_IN_URL, HIDDEN)
  for (const { 0: found, index } of text.matchAll(UUID_OR_SENSITIVE)) {
    masked += maskText(text.slice(rest, index)) + (IS_UUID.test(found) ? found : maskMatch(found))
    rest = index + found.length
  }
  return masked + maskText(text.slice(rest))
}

const SECRET_TEXT = /whsec_[A-Za-z0-9+/=]+|sbx_[\w-]+|(?<=\b(?:bearer|basic) +)(?!<token>)\S+/gi

/** Hides secrets only: tokens, webhook secrets, credentials in headers and URLs. Numbers of persons stay. */
export const maskSecrets = (value: string): string =>
  value.replace(USER_INFO, HIDDEN).replace(SECRET_IN_URL, HIDDEN).replace(SECRET_TEXT, HIDDEN)

// Payments are found by these, so nothing masks them.
const REFERENCES: ReadonlySet<string> = new Set(['reference_id', 'client_transaction_id'])
// Responses show these in full too; their digits alone can look like an account number.
const SHOWN_IN_FULL: ReadonlySet<string> = new Set([...REFERENCES, 'amount', 'mobile'])

export const isReference = (name: string): boolean => REFERENCES.has(name)

// A PAN, an Aadhaar or an account number that is no part of a UUID, an e-mail address, an amount or a mobile.
const WELL_FORMED = /(?<![\w.@+-])(?:[A-Z]{5}\d{4}[A-Z]|\d{9,18})(?![\w@-]|\.\w)/g

/** Masks well-formed numbers as responses do, and hides secrets. */
const maskInput = (value: string): string => maskSecrets(value).replace(WELL_FORMED, maskNumber)

/** The masked beginning of a string, for its sender; the cut never leaves a few digits of a number, which a log wouldn't mask. */
export function excerptOf(text: string, maxLength: number, mask = maskInput): string {
  const clean = mask(text.slice(0, 4 * maxLength))
  const start = clean.slice(0, maxLength)
  return /\d/.test(clean[maxLength] ?? '') ? start.replace(/(?<!\d)\d{1,8}$/, '') : start
}

const MAX_ECHO = 64

/** An id or a name of a request, safe to repeat in an error message. */
export const quoteInput = (input: string): string => excerptOf(input, MAX_ECHO)

/** The beginning of the value of a field, to show to its sender: a malformed number as it is, so that the typo is seen. */
export function quoteField(value: string, name: string, maxLength = MAX_ECHO): string {
  const isWhole =
    SHOWN_IN_FULL.has(name) || (isNumberName(name) && maskInput(value) !== maskNumber(value))
  return excerptOf(value, maxLength, isWhole ? maskSecrets : maskInput)
}

// The service reads nothing in deeper levels.
const MAX_LEVELS = 32

/** Masks a string of a JSON value; `name` is the name of its field. */
type MaskOne = (text: string, name: string) => string

/** Masks a JSON value: secrets by the names of their fields, each other text except references by `maskOne`. */
function maskJson(value: unknown, name: string, maskOne: MaskOne, level = 0): unknown {
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'object') {
    if (isSecretName(name) || level === MAX_LEVELS) return HIDDEN
    if (Array.isArray(value)) return value.map((one) => maskJson(one, name, maskOne, level + 1))
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        maskOne(key, ''),
        maskJson(inner, key, maskOne, level + 1),
      ]),
    )
  }
  const text = String(value)
  if (text === '' || isReference(name)) return value
  if (isSecretName(name)) return HIDDEN
  const masked = maskOne(text, name)
  return masked === text ? value : masked
}

function maskForLog(text: string, name: string): string {
  if (isNumberName(name)) return maskNumber(text)
  return IFSC_NAME.test(name) ? maskIfsc(text) : maskLogText(text)
}

/** Masks a JSON value for a log by the names of its fields and by what its texts look like. */
export const maskValue = (value: unknown, name = ''): unknown => maskJson(value, name, maskForLog)

/** Hides the secrets of a JSON value; does not change other values. */
export const hideSecrets = (value: unknown, name = '') => maskJson(value, name, maskSecrets)

/** Masks the input of a call, except for the fields that the service itself shows in full. */
export const maskRequest = (value: unknown, name = ''): unknown =>
  maskJson(value, name, (text, field) =>
    SHOWN_IN_FULL.has(field) ? maskSecrets(text) : maskForLog(text, field),
  )

type ErrorBody = { message: string; errors: readonly { field: string; message: string }[] }

// A scenario may respond with any JSON, so check the whole form.
function isErrorBody(response: unknown): response is ErrorBody {
  const { message, errors } = (response ?? {}) as Partial<ErrorBody>
  const isError = (one: unknown) => {
    const { field, message } = (one ?? {}) as Partial<ErrorBody['errors'][number]>
    return typeof field === 'string' && typeof message === 'string'
  }
  return typeof message === 'string' && Array.isArray(errors) && errors.every(isError)
}

/** Hides the repeated value of a field with a person's number: it may be too short to be recognised by its form. */
function maskErrorBody(errorBody: ErrorBody): ErrorBody {
  let { message } = errorBody
  const errors = errorBody.errors.map((error) => {
    const name = error.field.match(/[^.[\]]+/g)?.findLast((part) => !/^\d+$/.test(part)) ?? ''
    if (!isNumberName(name) && !IFSC_NAME.test(name)) return error
    const masked = error.message.replace(/(?<=; found ).*/s, HIDDEN)
    message = message.replaceAll(error.message, masked)
    return { ...error, message: masked }
  })
  return { ...errorBody, message, errors }
}

/** The JSON of a response, masked for a log. An error repeats the input to its caller; a log must not. */
export const maskResponse = (response: unknown): unknown =>
  maskValue(isErrorBody(response) ? maskErrorBody(response) : response)
