// The error of a call that was rejected or got no response.

/** A call that was rejected, or got no response (status 0). */
export class CallError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export type ErrorBody = {
  message?: string
  error?: string
  /** The wrong fields; `message` names only the first. */
  errors?: readonly { field: string; message: string }[]
}

/** Returns the body of an error response; an empty object if it is not JSON. */
export async function errorBodyOf(response: Response): Promise<ErrorBody> {
  try {
    return await response.json()
  } catch {
    return {}
  }
}

/** Returns the error of a rejected call, with the message of each wrong field. */
export function errorOf(status: number, { message, errors }: ErrorBody): CallError {
  const all =
    Array.isArray(errors) && errors.length > 1
      ? `${errors.map((one) => `${one.field} ${one.message}`).join('. ')}.`
      : message
  return new CallError(status, all ?? `The server responded with ${status}.`)
}
