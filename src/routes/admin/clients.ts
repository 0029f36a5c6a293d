import * as z from 'zod'
import {
  BadFixtures,
  type FixtureWorlds,
  fixturesOf,
  type StartRows,
} from '../../content/fixtures.ts'
import { adminCall, outlineOf } from '../../http/admin-call.ts'
import { AccessToken, ClientName, SnapshotName } from '../../model/client.ts'
import { isClockTime, named, Timestamp, Uuid } from '../../model/formats.ts'
import { validationFailed } from '../../model/validation-errors.ts'
import type { Scenario } from '../../scenarios/scenario-schema.ts'
import { ScenarioName } from '../../scenarios/schema-parts.ts'
import { settingOf } from '../../tables/tables.ts'
import { DEFAULT_CLIENT } from '../../world/client-rows.ts'
import type { World } from '../../world/world.ts'
import { ReadingsField } from './assumptions.ts'
import { Speed } from './clock.ts'

export function rowsOfBody(content: object): StartRows {
  let sets: FixtureWorlds
  try {
    sets = fixturesOf(content, 'fixtures')
  } catch (error) {
    if (!(error instanceof BadFixtures)) throw error
    const errors = error.problems.map(({ path, message }) => ({
      field: path ? `fixtures.${path}` : 'fixtures',
      code: 'invalid_value',
      message,
    }))
    throw validationFailed(errors)
  }
  if (sets.size === 1) return sets.get(DEFAULT_CLIENT)!
  const message = `must have exactly one client, named default; found ${sets.size}`
  throw validationFailed([{ field: 'fixtures.clients', code: 'invalid_value', message }])
}

const Client = named('Client', {
  name: ClientName,
  client_id: Uuid,
  status: z.enum(['active', 'inactive']),
  check_kyc: z.boolean(),
  scenario: z.string(),
  now: Timestamp,
  snapshots: z.int(),
})

function clientResponse({ name, tables, clock, payouts }: World): z.input<typeof Client> {
  const { client_id, status, check_kyc } = payouts.profile()
  const scenario = settingOf(tables.tables.settings, 'scenario')!.name
  const snapshots = tables.snapshots.size
  return { name, client_id, status, check_kyc, scenario, now: clock.iso(), snapshots }
}

const startOptions = {
  scenario: z.string().optional(),
  scenarios: z
    .record(ScenarioName, outlineOf<typeof Scenario>(z.looseObject({})))
    .optional()
    .meta({ description: 'Scenarios of its own by name, which take precedence over the others.' }),
  random_seed: z.int().min(0).optional(),
  clock: z
    .union(
      [
        z.enum(['real', 'frozen']),
        z.iso
          .datetime({ offset: true })
          .refine((text) => isClockTime(Date.parse(text)))
          .transform((text) => new Date(text).toISOString()),
      ],
      {
        error:
          'must be real, frozen, or an ISO 8601 instant from 1970 to 9999 such as 2026-01-01T00:00:00Z',
      },
    )
    .optional(),
  clock_speed: Speed.optional(),
  check_kyc: z.boolean().optional(),
  assume: ReadingsField.optional(),
}

const CreateClient = z
  .strictObject({
    name: ClientName,
    access_token: AccessToken.optional(),
    ...startOptions,
    fixtures: z
      .union([z.enum(['default', 'empty']), z.looseObject({})], {
        error: 'must be default, empty, or an object of fixtures',
      })
      .optional(),
    from: z.strictObject({ client: ClientName, snapshot: SnapshotName.optional() }).optional(),
  })
  .refine(({ fixtures, from }) => fixtures === undefined || from === undefined, {
    path: ['fixtures'],
    error: 'cannot be combined with from: a fork copies the rows of its source',
    params: { code: 'invalid_value' },
  })

const newClientOf = ({
  random_seed,
  clock_speed,
  check_kyc,
  fixtures = 'default',
  scenarios: _,
  ...client
}: z.output<typeof CreateClient>) => ({
  ...client,
  ...(fixtures !== 'default' && {
    fixtures: () => rowsOfBody(fixtures === 'empty' ? {} : fixtures),
  }),
  randomSeed: random_seed,
  clockSpeed: clock_speed,
  checkKyc: check_kyc,
})

export const clientCalls = [
  adminCall({
    id: 'listClients',
    summary: 'List the clients',
    response: named('ClientsResponse', { clients: z.array(Client) }),
    handle: (_world, _input, { clients }) => ({
      clients: Array.from(clients.values(), clientResponse),
    }),
  }),
  adminCall({
    id: 'createClient',
    summary: 'Create a client, from fixtures or as a fork',
    status: 201,
    body: CreateClient,
    response: named('CreatedClientResponse', {
      client_id: Uuid,
      name: ClientName,
      access_token: AccessToken,
    }),
    errors: ['client_exists', 'token_in_use'],
    async handle(_world, { body }, sandbox) {
      const { scenarios: given } = body
      const scenarios = given && (await sandbox.default.scenarios.checkOwn(given))
      const { name, payouts } = sandbox.create({ ...newClientOf(body), scenarios })
      const { client_id, access_token } = payouts.profile()
      return { client_id, name, access_token }
    },
  }),
  adminCall({
    id: 'deleteClient',
    summary: 'Delete a client and all its state',
    params: z.object({ name: ClientName }),
    response: named('DeletedClientResponse', { deleted: z.string() }),
    errors: ['default_client_required'],
    handle(_world, { params }, sandbox) {
      sandbox.delete(params.name)
      return { deleted: params.name }
    },
  }),
]
