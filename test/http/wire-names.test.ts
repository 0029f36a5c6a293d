import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import { ASHA, ROHAN, ROHANS_ACCOUNT, start, TOKEN } from '../helper.ts'

const SNAKE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/

/** Names that the contract spells in another way. */
const CONTRACT_NAMES = [
  'ClientConfigurations',
  'Nationality',
  'aadhaarSeedingStatus',
  'accountName',
  'accountNumber',
  'bankResponse',
  'bankTxnStatus',
  'dateOfBirth',
  'kycData',
  'metaData',
  'nameOnCard',
  'panStatus',
  'requestId',
  'statusCode',
  'transactionId',
  'updatedWebhook',
  'userId',
]
/** Status words of the contract that are keys of a count, and a key of JSON Schema's own. */
const OTHER_NAMES = ['PROCESSING', 'SUCCESS', 'FAILED', '$schema']

/** The names in a JSON Schema or OpenAPI document: properties and parameters. */
function* schemaNames(value: unknown): Generator<string> {
  if (Array.isArray(value)) for (const one of value) yield* schemaNames(one)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  const { properties, in: place, name } = value as Record<string, unknown>
  if (typeof properties === 'object' && properties !== null && !Array.isArray(properties))
    yield* Object.keys(properties)
  if (place === 'query' || place === 'path') yield String(name)
  for (const one of Object.values(value)) yield* schemaNames(one)
}

/** The names of an example that has no schema of its own. */
function* valueNames(value: unknown): Generator<string> {
  if (Array.isArray(value)) for (const one of value) yield* valueNames(one)
  else if (typeof value === 'object' && value !== null)
    for (const [name, one] of Object.entries(value)) {
      yield name
      yield* valueNames(one)
    }
}

t.test('every name on the wire is snake_case, or the contract spells it so', async (t) => {
  const box = await start(t)
  const read = (file: string) => JSON.parse(readFileSync(join(PACKAGE_ROOT, file), 'utf8'))
  const schemas = {
    'the service': (await box.get('/openapi.json')).body,
    'the admin API': (await box.get('/__admin/openapi.json')).body,
    'a scenario file': read('scenarios/scenario.schema.json'),
    'the result of a sweep': read('docs/sweep.schema.json'),
  }
  const exceptions = new Set<string>()
  for (const [where, schema] of Object.entries(schemas)) {
    const names = [...new Set(schemaNames(schema))]
    t.ok(names.length >= 5, where)
    const others = names.filter((name) => !SNAKE.test(name))
    for (const name of others) exceptions.add(name)
    t.strictSame(
      others.filter((name) => ![...CONTRACT_NAMES, ...OTHER_NAMES].includes(name)),
      [],
      where,
    )
  }
  t.strictSame(
    [...CONTRACT_NAMES, ...OTHER_NAMES].filter((name) => !exceptions.has(name)),
    [],
    'each exception is used',
  )
})

t.test('a state document has snake_case names', async (t) => {
  const box = await start(t)
  const payment = { from_user_id: ASHA, to_user_id: ROHAN, benif_bank_id: ROHANS_ACCOUNT }
  await box.post('/v1/transaction', { ...payment, amount: '100.00' }, TOKEN)
  const { body } = await box.get('/__admin/state')
  const names = [...new Set(valueNames(body))]
  t.ok(names.includes('due_at'), 'the timers are there')
  t.strictSame(
    names.filter((name) => !SNAKE.test(name) && !CONTRACT_NAMES.includes(name)),
    [],
  )
})
