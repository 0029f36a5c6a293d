// The error of a call that was rejected or got no response.

/** A call that was rejected, or got no response (status 0). */
export class CallError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export type ErrorBody = { message?: string; error?: string }

/** Returns the body of an error response; an empty object if it is not JSON. */
export async function errorBodyOf(response: Response): Promise<ErrorBody> {
  try {
    return await response.json()
  } catch {
    return {}
  }
}

/** Returns the error of a rejected call. */
export const errorOf = (status: number, { message }: ErrorBody): CallError =>
  new CallError(status, message ?? `The server responded with ${status}.`)
