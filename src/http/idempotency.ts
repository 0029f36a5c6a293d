import { SandboxError } from '../model/errors.ts'
import { isObject } from '../model/formats.ts'
import { validationFailed } from '../model/validation-errors.ts'
import { nodeCrypto } from '../runtime/runtime.ts'
import type { ResponseFault } from '../scenarios/compiled.ts'
import type { World } from '../world/world.ts'

const RETENTION_MS = 24 * 3_600_000

export type StoredResponse = {
  status: number
  body: string
  replayed?: boolean
  headers?: Readonly<Record<string, string>>
  fault?: ResponseFault | undefined
}

/** The status of a stored response that comes later. */
export const LATER = 0

/** Stores a response for the key of its request, and returns the id of its row. */
export type StoreResponse = (answer: StoredResponse) => string

/** The key of a header, with or without quotes; throws if it is empty or too long. */
export function keyOf(header: string): string {
  const key = /^".*"$/.test(header) ? header.slice(1, -1) : header
  if (key.length >= 1 && key.length <= 255) return key
  const message = `must have 1 to 255 characters; found ${key.length}`
  const field = 'Idempotency-Key'
  throw validationFailed([{ field, code: 'invalid_format', message }], {
    subject: `The header ${field}`,
  })
}

// Keys whose request is running, by world; in memory only.
const running = new WeakMap<World, Set<string>>()

/** The text of a JSON value in which the order of fields makes no difference. */
const canonicalText = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )

/** Returns the stored response of a key, or `undefined` for a new key; throws if the key cannot be used. */
function findStored(world: World, scoped: string, fingerprint: string): StoredResponse | undefined {
  const found = world.tables.tables.idempotency.get(scoped)
  const row = found && found.expires_at > world.clock.now() ? found : undefined
  if (running.get(world)?.has(scoped) || row?.status === LATER)
    throw new SandboxError(
      'idempotency_in_flight',
      'A request with this Idempotency-Key is still running. Wait, then send the same request with the same key again.',
    )
  if (!row) return undefined
  if (row.fingerprint !== fingerprint)
    throw new SandboxError(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another body. If you are retrying, send the same body as before; only a different request may have a different key.',
    )
  return { status: row.status, body: row.body, replayed: true }
}

/** Removes the two oldest expired keys: done for each new key, so that they cannot accumulate and every call is fast. */
function dropExpired({ tables, clock }: World) {
  const { idempotency } = tables.tables
  const oldest = idempotency.page('all', 'all', Math.max(0, idempotency.count('all', 'all') - 2), 2)
  for (const { id, row } of oldest) {
    if (row.expires_at <= clock.now()) tables.remove('idempotency', id)
  }
}

/** Runs a POST once for its key: the same request again gets the stored response. An error is not stored. */
export async function runOnce(
  world: World,
  request: { key: string; route: string; body: unknown },
  run: (saveResponse: StoreResponse) => StoredResponse | Promise<StoredResponse>,
): Promise<StoredResponse> {
  const scoped = `${request.route} ${request.key}`
  const fingerprint = nodeCrypto()
    .createHash('sha256')
    .update(canonicalText(request.body))
    .digest('base64url')
  const replay = findStored(world, scoped, fingerprint)
  if (replay) return replay
  const keys = running.get(world) ?? new Set<string>()
  running.set(world, keys.add(scoped))
  try {
    return await run(({ status, body }) => {
      world.tables.change(() => {
        dropExpired(world)
        // An expired row of this key would retain its old position in the order of expiry.
        world.tables.remove('idempotency', scoped)
        const expires_at = world.clock.now() + RETENTION_MS
        world.tables.put('idempotency', { key: scoped, fingerprint, status, body, expires_at })
      })
      return scoped
    })
  } finally {
    keys.delete(scoped)
  }
}
