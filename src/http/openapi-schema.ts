import * as z from 'zod'
import { contractOf } from '../model/client.ts'

export type Json = Record<string, unknown>

/** What a schema describes; `response`: exactly those of this sandbox, `contract`: all that the contract allows. */
export type SchemaForm = 'parameter' | 'request' | ResponseForm
export type ResponseForm = 'response' | 'contract'

type Part = { zodSchema: z.core.$ZodTypes; jsonSchema: Json }

const addDescription = (json: Json, sentence: string) => {
  json['description'] = [json['description'], sentence].filter(Boolean).join(' ')
}

/** A whole number is an integer, without the bounds of JavaScript. */
function nameIntegers(json: Json) {
  if (json['type'] === 'number' && Number.isInteger(json['const'])) json['type'] = 'integer'
  if (json['minimum'] === Number.MIN_SAFE_INTEGER) delete json['minimum']
  if (json['maximum'] === Number.MAX_SAFE_INTEGER) delete json['maximum']
}

/** A generator of types makes a field with a `default` required, so the description contains it. */
function describeDefault({ jsonSchema }: Part) {
  if (!('default' in jsonSchema)) return
  addDescription(jsonSchema, `Default: ${JSON.stringify(jsonSchema['default'])}.`)
  delete jsonSchema['default']
}

/** Says which words the sandbox uses, where the contract does not list all words. */
function describeWords(json: Json, words: readonly unknown[]) {
  addDescription(
    json,
    `The sandbox uses ${words.join(', ')}. The contract does not list all words, so accept others.`,
  )
  json['x-extensible-enum'] = words
}

/** Whether the contract says that a response can lack a field. */
const canLack = (field: z.core.$ZodType | undefined) =>
  contractOf(field as z.ZodType)?.safeParse(undefined).success === true

/**
 * Widens the schema of a response to the contract's. An enum remains only if the contract lists all its values, which it
 * does for `status` of the history (interface 2.5).
 */
function open({ zodSchema, jsonSchema }: Part, defs: Json) {
  const contract = contractOf(zodSchema as z.core.$ZodType as z.ZodType)
  if (contract) {
    const { $defs, ...wider } = schemaOf(contract, 'contract')
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
    Object.assign(jsonSchema, wider)
    Object.assign(defs, $defs)
    if (zodSchema._zod.def.type === 'enum' && jsonSchema['type'] === 'string')
      describeWords(jsonSchema, [...(zodSchema._zod.values ?? [])])
  }
  if (jsonSchema['additionalProperties'] === false) delete jsonSchema['additionalProperties']
  // The `code` of an envelope repeats the HTTP status.
  if (typeof jsonSchema['const'] === 'number') {
    jsonSchema['examples'] = [jsonSchema['const']]
    delete jsonSchema['const']
  }
  const { def } = zodSchema._zod
  const required = jsonSchema['required'] as string[] | undefined
  if (def.type === 'object' && required)
    jsonSchema['required'] = required.filter((name) => !canLack(def.shape[name]))
}

/** The JSON Schema of a schema; `$defs` has its named parts. */
export function schemaOf(schema: z.ZodType, form: SchemaForm): Json {
  const defs: Json = {}
  const found = z.toJSONSchema(schema, {
    io: form === 'parameter' || form === 'request' ? 'input' : 'output',
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override(part) {
      nameIntegers(part.jsonSchema)
      if (form === 'request') describeDefault(part)
      if (form === 'contract') open(part, defs)
    },
  }) as Json
  delete found['$schema']
  const { $defs, ...rest } = { ...found, $defs: { ...defs, ...(found['$defs'] as Json) } }
  return Object.keys($defs).length > 0 ? { ...rest, $defs: onlyReferenced($defs, rest) } : rest
}

/** The named parts that something still refers to: a wider schema may refer to fewer. */
function onlyReferenced($defs: Json, rest: Json): Json {
  const text = JSON.stringify([rest, $defs])
  return Object.fromEntries(
    Object.entries($defs).filter(([name]) => text.includes(`"#/$defs/${name}"`)),
  )
}

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
    all: () => Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1))),
    show(name: string, example: unknown) {
      components[name] = { ...(components[name] as Json), examples: [example] }
    },
  }
}

export type Components = ReturnType<typeof createComponents>
