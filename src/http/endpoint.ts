import type * as z from 'zod'
import type { ErrorCode } from '../model/errors.ts'

/** One endpoint of the service or of the admin API; route, validation, OpenAPI, typed client and tests follow from it. */
export type Endpoint = {
  id: string
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path below `/v1` or `/__admin`. */
  url: string
  tag: string
  summary: string
  description?: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  status: 200 | 201
  response: z.ZodType
  errors: readonly ErrorCode[]
  raw?: boolean
  /** Accepts a body as large as a whole state. */
  large?: boolean
  /** Validates its body itself. */
  readsBody?: boolean
}

declare module 'fastify' {
  interface FastifyContextConfig {
    endpoint?: Pick<Endpoint, 'id'>
  }
}

export type Valid<S> = S extends z.ZodType ? z.output<S> : undefined

export type Input<P = never, Q = never, B = never> = { params: P; query: Q; body: B }
