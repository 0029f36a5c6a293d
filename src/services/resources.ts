import { SandboxError } from '../model/errors.ts'
import type { SandboxTables } from './tables.ts'

/** The nouns that events are about: the part of an event's name before the point. */
export type ResourceKind = 'transaction' | 'kyc' | 'bank' | 'user' | 'webhook'

export const kindOf = (event: string) => event.slice(0, event.indexOf('.')) as ResourceKind

const TABLE = {
  transaction: 'payments',
  kyc: 'kyc',
  bank: 'bank_accounts',
  user: 'users',
  webhook: 'webhook',
} as const

/** The id of a resource that is named, or of the newest of its kind for `latest`; throws `not_found` where there is none. */
export function resourceIdOf(
  { tables }: SandboxTables,
  kind: ResourceKind,
  resource: string,
): string {
  const table = tables[TABLE[kind]]
  const id = resource === 'latest' ? table.newest('all', 'all')?.id : resource
  if (id !== undefined) return id
  throw new SandboxError('not_found', `No ${kind} exists yet, so \`latest\` matches nothing.`)
}
