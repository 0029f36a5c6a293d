import dns from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { webhookUrlProblem } from '../model/webhook.ts'

/** The origin of the inbox of each client: what is sent there stays in this process. */
export const OWN_ORIGIN = 'http://inbox.localhost'

/** The kind of an IP address, for the rules on where a webhook may be sent. */
export type AddressKind = 'local' | 'link_local' | 'metadata' | 'public'

/** The parts of a checked URL that a connection needs. `host` has no brackets and no final dot. */
export type Target = {
  protocol: string
  host: string
  port: string
  path: string
  authority: string
}

// The first list that contains an address defines its kind, so the single metadata addresses come before their ranges.
const RANGES: Readonly<Record<Exclude<AddressKind, 'public'>, readonly string[]>> = {
  // Services that hand out a machine's credentials: AWS (IMDS, ECS and EKS share a prefix), Google, Scaleway,
  // Alibaba, Oracle and Azure.
  metadata: [
    'fd00:ec2::/32',
    'fd20:ce::254/128',
    'fd00:42::42/128',
    '100.100.100.200/32',
    '192.0.0.192/32',
    '168.63.129.16/32',
    '169.254.169.254/32',
    '169.254.170.2/32',
    '169.254.170.23/32',
  ],
  link_local: ['169.254.0.0/16', 'fe80::/10'],
  // Loopback and private; 100.64/10 is what carriers and overlay networks use inside; fec0::/10 is the old form of fc00::/7.
  local: [
    '127.0.0.0/8',
    '::1/128',
    '0.0.0.0/32',
    '::/128',
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '100.64.0.0/10',
    'fc00::/7',
    'fec0::/10',
  ],
}
const SUBNETS = Object.fromEntries(
  Object.entries(RANGES).map(([kind, ranges]) => [
    kind,
    ranges.map((one) => ipaddr.parseCIDR(one)),
  ]),
)

// Names of containers and of private networks; no public name ends like that.
const LOCAL_NAME = /^[^.]+$|\.(?:localhost|local|internal|test|lan|home\.arpa)$/

/** Says what kind of address an IP is, as the resolver or `URL` writes it; a mapped IPv4 address is what it maps. */
export const classifyAddress = (address: string): AddressKind =>
  ipaddr.subnetMatch(ipaddr.process(address.replace(/%.*$/, '')), SUBNETS, 'public') as AddressKind

/** Reads a webhook URL; `problem` fits after "the URL". */
export function readTarget(text: string): { target: Target } | { problem: string } {
  const problem = webhookUrlProblem(text)
  if (problem !== undefined) return { problem }
  const url = new URL(text)
  const host = bareHost(url)
  const { protocol, port, host: authority } = url
  return { target: { protocol, host, port, path: url.pathname + url.search, authority } }
}

const bareHost = (url: URL) => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

function readHost(entry: string): string {
  const text = entry.includes(':') && isIP(entry) === 6 ? `[${entry}]` : entry
  const whole = `http://${text}/`
  if (
    !/^[^\s/\\?#@]+$/.test(text) ||
    text.replace(/^\[.*\]/, '').includes(':') ||
    !URL.canParse(whole)
  )
    throw new Error(
      `"${entry}" is not a host: specify a name or an IP address, without scheme, port or path`,
    )
  return bareHost(new URL(whole))
}

/** The error of a connection to a forbidden address; `code` is `ADDRESS_NOT_ALLOWED`, the message gives the reason. */
export class AddressNotAllowed extends Error {
  readonly code = 'ADDRESS_NOT_ALLOWED'
}

export type AddressPolicyDeps = {
  /** Public hosts that may be reached, by name or IP (`--webhook-allow`). */
  allow: readonly string[]
  lookup?: typeof dns.lookup
}

/**
 * Decides where webhooks may go. A name is checked with the addresses of the same lookup that the connection uses, so that they cannot
 * change in between. Throws if an entry of `allow` is not a host.
 */
export function createAddressPolicy({ allow, lookup = dns.lookup }: AddressPolicyDeps) {
  const allowed = new Set(allow.map(readHost))

  /** Why `address` with the name `host` is forbidden; undefined if it is allowed. */
  function addressProblem(host: string, address: string): string | undefined {
    const shown = host === address ? host : `${host} (${address})`
    switch (classifyAddress(address)) {
      case 'link_local':
        return `${shown} is a link-local address; webhooks are never sent there`
      case 'metadata':
        return `${shown} is a cloud metadata address; webhooks are never sent there`
      case 'public':
        return allowed.has(host)
          ? undefined
          : `${shown} is a public address; start with --webhook-allow ${host} to send there`
      default:
        return undefined
    }
  }

  /** Why the host of a URL is forbidden before any lookup: only an address can be. */
  const hostProblem = (host: string): string | undefined =>
    isIP(host) === 0 ? undefined : addressProblem(host, host)

  /** A warning about a webhook URL to which nothing is sent, or only if its name leads to a local address. */
  function warningFor(url: string): string | undefined {
    const host = bareHost(new URL(url))
    const problem = hostProblem(host)
    if (problem !== undefined || isIP(host) !== 0 || allowed.has(host) || LOCAL_NAME.test(host))
      return problem
    return `webhooks go to ${host} only if it resolves to a local address; for any other, start with --webhook-allow ${host}`
  }

  /** The `lookup` option of a connection: resolves a name and returns only allowed addresses. */
  const guardedLookup: LookupFunction = (host, options, callback) => {
    const name = host.replace(/\.$/, '')
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const usable = found.filter(({ address }) => addressProblem(name, address) === undefined)
      const first = usable[0]
      if (first === undefined) {
        const why = found[0] && addressProblem(name, found[0].address)
        return callback(new AddressNotAllowed(why ?? `${name} resolves to no address`), [])
      }
      if (options.all) callback(null, usable)
      else callback(null, first.address, first.family)
    })
  }

  return { hostProblem, addressProblem, warningFor, lookup: guardedLookup }
}
