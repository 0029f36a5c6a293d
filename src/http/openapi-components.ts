import * as z from 'zod'
import type { ExampleRequest } from './openapi-requests.ts'
import { type Json, type ResponseForm, schemaOf } from './openapi-schema.ts'

/** Collects the schema components of one document, by name; its responses have this form. */
export function createComponents(responseForm: ResponseForm) {
  const components: Json = {}
  const clean = (part: unknown): Json => {
    const text = JSON.stringify(part).replaceAll('"#/$defs/', '"#/components/schemas/')
    const { id: _, $id: __, ...rest } = JSON.parse(text) as Json
    return rest
  }

  /** Adds a schema and returns a reference to it; `fallbackName` is for a schema without a name. */
  function ref(schema: z.ZodType, place: 'request' | 'response', fallbackName?: string): Json {
    const own = z.globalRegistry.get(schema)?.id
    const name = own ?? fallbackName
    if (name === undefined)
      throw new Error('A schema of a route has no name: give it one by .meta({ id })')
    // $defs has every named part, including the schema itself.
    const { $defs = {}, ...rest } = schemaOf(
      schema,
      place === 'request' ? place : responseForm,
    ) as { $defs?: Json }
    const parts = own === undefined ? { ...$defs, [name]: rest } : $defs
    for (const [part, written] of Object.entries(parts)) components[part] ??= clean(written)
    return { $ref: `#/components/schemas/${name}` }
  }

  return {
    ref,
    json: (...schema: Parameters<typeof ref>) => ({
      'application/json': { schema: ref(...schema) },
    }),
    /** All components so far, sorted by name. */
    all: () => Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1))),
    /** The body of a request, with its example. */
    requestBody(schema: z.ZodType, fallbackName?: string, { body }: ExampleRequest = {}): Json {
      const required = !schema.safeParse(undefined).success
      const content = { schema: ref(schema, 'request', fallbackName), example: body }
      return { required, content: { 'application/json': content } }
    },
    /** Adds an example to a named schema. */
    show(name: string, example: unknown) {
      components[name] = { ...(components[name] as Json), examples: [example] }
    },
  }
}

export type Components = ReturnType<typeof createComponents>
