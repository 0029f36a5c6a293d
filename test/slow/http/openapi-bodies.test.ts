/** Bodies drawn from the request schemas of the document: the server accepts what the document allows, and refuses the rest. */
import { createRequire } from 'node:module'
import fc from 'fast-check'
import t from 'tap'
import { GUARDED, start } from '../../helper.ts'
import { type Json, type Operation, SERVICE } from '../calls.ts'

const ofFastify = createRequire(createRequire(import.meta.url).resolve('@fastify/ajv-compiler'))
const { default: Ajv } = ofFastify('ajv/dist/2020')
const { default: addFormats } = ofFastify('ajv-formats')

const RUNS = 100
const operations = SERVICE.filter(({ body }) => body)
const { components: schemas } = operations[0]!
const ajv = addFormats(new Ajv({ strict: false }))

/** Texts that match the pattern of a schema: fast-check knows no look-ahead, so it draws from a simpler pattern first. */
const WITHOUT_LOOK_AHEAD: Readonly<Record<string, RegExp>> = {
  email:
    /^[A-Za-z0-9_'+]{1,9}(\.[A-Za-z0-9_+-]{1,9}){0,2}@([A-Za-z0-9][A-Za-z0-9-]{0,9}\.){1,3}[A-Za-z]{2,9}$/,
  mobile: /^(\+[1-9]\d{6,14}|(\+91)?[6-9]\d{9})$/,
  amount: /^\d{1,10}(\.\d{1,2})?$/,
  url: /^([Hh]ttps?|HTTP):\/\/([a-z][a-z0-9-]{0,9}(\.[a-z]{2,9}){0,2}|127\.0\.0\.1|\[::1\])(:[1-9]\d{0,3})?(\/[a-z0-9~%.-]{0,9}){0,3}(\?[a-z=&@]{0,9})?$/,
}

const isValid = (schema: Json) => {
  const validate = ajv.compile({ ...schema, components: { schemas } })
  return (value: unknown): boolean => validate(value)
}

/** The shortest, the longest and other texts of a schema, with characters of every kind. */
function texts(name: string, schema: Json): fc.Arbitrary<unknown> {
  const { minLength = 0, maxLength = 300, pattern } = schema
  const simpler = WITHOUT_LOOK_AHEAD[name]
  if (simpler || (pattern && maxLength === 300))
    return fc.stringMatching(simpler ?? new RegExp(pattern)).filter(isValid(schema))
  const of = (min: number, max: number) =>
    fc.string({ unit: 'binary', minLength: min, maxLength: max })
  const any = fc.oneof(
    of(minLength, minLength),
    of(maxLength, maxLength),
    of(minLength, Math.min(maxLength, 20)),
    fc.constant('😀'.repeat(maxLength)),
  )
  return any.filter(isValid(schema))
}

function values(name: string, schema: Json): fc.Arbitrary<unknown> {
  if (schema.$ref) return values(name, schemas[schema.$ref.split('/').at(-1)])
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one: Json) => values(name, one)))
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.type === 'number') {
    // The amount of a payment, in paise.
    const [min, max] = [schema.minimum * 100, Math.round(schema.maximum * 100)]
    const drawn = fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max: 2 ** 31 - 1 }))
    return drawn.map((paise) => paise / 100)
  }
  if (schema.type === 'array') {
    const { minItems, maxItems } = schema
    const of = (min: number, max: number) =>
      fc.array(values('', schema.items), { minLength: min, maxLength: max })
    return fc.oneof(
      { arbitrary: of(minItems, 3), weight: 9 },
      { arbitrary: of(maxItems, maxItems), weight: 1 },
    )
  }
  if (schema.type === 'string') return texts(name, schema)
  const fields = Object.fromEntries(
    Object.entries<Json>(schema.properties).map(([key, field]) => [key, values(key, field)]),
  )
  const unknown = fc.constant({ unknown_field: null })
  return fc
    .tuple(fc.record(fields, { requiredKeys: schema.required ?? [] }), fc.option(unknown))
    .map(([known, extra]) => ({ ...known, ...extra }))
    .filter(isValid(schema))
}

/** What is wrong with a field in one place, for each keyword of its schema. */
function broken(schema: Json): Json[] {
  if (schema.$ref) return [7, null]
  const { minLength = 0, maxLength, minItems, maxItems, pattern, enum: words, type } = schema
  const cases: Json[] = [null, {}]
  if (schema.anyOf) {
    // Of the amount of a payment: below, above, and a third decimal.
    return [...cases, true, 0, 0.99, 1e10, 1.005, -1, '', '0', '0.50', '1.005', '1e3', '-1', ' 1']
  }
  if (type === 'string') cases.push(7, ['x'])
  if (minLength > 0) cases.push('')
  if (maxLength) cases.push('a'.repeat(maxLength + 1))
  if (pattern) cases.push('\u0000', '\u009f')
  if (words || 'const' in schema || (pattern && !maxLength)) cases.push('?')
  if (pattern) cases.push('x', 'a@b', 'http:/x', 'ftp://example.com/')
  if (minItems) cases.push([])
  if (maxItems) cases.push(Array(maxItems + 1).fill({}))
  return cases
}

/** The response if the server refuses a body as invalid; otherwise nothing. */
async function refusal(
  { call }: Pick<Awaited<ReturnType<typeof start>>, 'call'>,
  { method, path }: Operation,
  body: unknown,
): Promise<string | undefined> {
  const { status, text } = await call(method as 'POST', `/v1${path}`, body)
  // 404, 409 and 422 depend on the rows of the sandbox.
  return status < 300 || [404, 409, 422].includes(status) ? undefined : text
}

/** Every value inside a body, with its holder. */
function places(holder: Json): [holder: Json, key: string][] {
  if (typeof holder !== 'object' || holder === null) return []
  return Object.keys(holder).flatMap((key) => [[holder, key], ...places(holder[key])])
}

/** Bodies of the document with one value changed, which the document mostly no longer allows. */
const changedBodies = (schema: Json): fc.Arbitrary<Json> =>
  fc
    .tuple(values('', schema), fc.nat(), fc.jsonValue({ maxDepth: 1 }), fc.string(), fc.nat(3))
    .map(([drawn, place, other, more, how]) => {
      const body = JSON.parse(JSON.stringify(drawn))
      const all = places(body)
      if (all.length === 0) return other
      const [holder, key] = all[place % all.length]!
      const old = holder[key]
      if (how === 0 || typeof old === 'object') holder[key] = other
      else if (how === 1) delete holder[key]
      else if (typeof old === 'string') holder[key] = how === 2 ? old + more : old.slice(1)
      else holder[key] = how === 2 ? String(old) : -old
      return body
    })

/** A body as it is read: without null for an optional field, and the default readings do not read some fields. */
const asRead = (body: Json, options: object, { required = [] }: Json) => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const unread = options === GUARDED ? [] : ['user_type', 'remark', 'currency_code']
  const isRead = ([name, value]: [string, Json]) =>
    !unread.includes(name) && (value !== null || required.includes(name))
  return Object.fromEntries(Object.entries<Json>(body).filter(isRead))
}

for (const operation of operations) {
  const { id, body: schema, example } = operation
  const target = schemas[schema.$ref.split('/').at(-1)]
  t.test(`${id}: the server accepts each body that the document allows`, async (t) => {
    for (const options of [{}, GUARDED]) {
      const box = await start(t, options)
      await fc.assert(
        fc.asyncProperty(values('', schema), async (body) => {
          const text = await refusal(box, operation, body)
          if (text !== undefined) throw new Error(text)
        }),
        { numRuns: RUNS, seed: 16 },
      )
    }
    t.pass(`${RUNS} bodies`)
  })

  t.test(`${id}: the document allows each body that the server accepts`, async (t) => {
    const isAllowed = isValid(target)
    for (const options of [{}, GUARDED]) {
      const box = await start(t, options)
      const verdicts = new Set<boolean>()
      await fc.assert(
        fc.asyncProperty(changedBodies(schema), async (body) => {
          const isAccepted = (await refusal(box, operation, body)) === undefined
          verdicts.add(isAccepted)
          if (isAccepted && !isAllowed(asRead(body, options, target)))
            throw new Error('not allowed')
        }),
        { numRuns: RUNS, seed: 36 },
      )
      t.equal(verdicts.size, 2, 'some are accepted, and some are not')
    }
  })

  t.test(`${id}: the server refuses each body that the document does not allow`, async (t) => {
    const box = await start(t, GUARDED)
    const isAllowed = isValid(target)
    const bodies = Object.entries<Json>(target.properties).flatMap(([name, field]) => [
      ...broken(field).map((value) => ({ ...example, [name]: value })),
      Object.fromEntries(Object.entries(example).filter(([other]) => other !== name)),
    ])
    let count = 0
    for (const body of [...bodies, {}, { unknown_field: 1 }, []]) {
      if (isAllowed(asRead(body, GUARDED, target))) continue
      count++
      t.ok(await refusal(box, operation, body), JSON.stringify(body).slice(0, 200))
    }
    t.ok(count > 5)
  })
}
