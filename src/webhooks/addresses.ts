// webhooks/: what a client's webhook gets: events, their deliveries and attempts, signatures, the sender; and the built-in
// inbox, which receives them. deliveries.ts decides, send.ts sends.

import dns from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { webhookUrlProblem } from '../model/webhook.ts'

/** The origin of the inbox of each client: what is sent there stays in this process. */
export const OWN_ORIGIN = 'http://inbox.localhost'

/** The parts of a checked URL that a connection needs; `host` has no brackets and no final dot. */
export type Target = Record<'protocol' | 'host' | 'port' | 'path' | 'authority', string>

// The first list that contains an address defines its kind, so the single metadata addresses come before their ranges.
const RANGES = {
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
  loopback: ['127.0.0.0/8', '::1/128'],
  unspecified: ['0.0.0.0/32', '::/128'],
  // 100.64/10 is what carriers and overlay networks use inside; fec0::/10 is the old form of fc00::/7.
  private: [
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '100.64.0.0/10',
    'fc00::/7',
    'fec0::/10',
  ],
}
/** The kind of an IP address, for the rules on where a webhook may be sent. */
export type AddressKind = keyof typeof RANGES | 'public'

const SUBNETS = Object.fromEntries(
  Object.entries(RANGES).map(([kind, ranges]) => [
    kind,
    ranges.map((one) => ipaddr.parseCIDR(one)),
  ]),
)

// Names of containers and of private networks; no public name ends like that.
const LOCAL_NAME = /^[^.]+$|\.(?:localhost|local|internal|test|lan|home\.arpa)$/

const METADATA_LABELS = new Set(['metadata', 'instance-data', 'rancher-metadata'])

/** The IPv4 address embedded in an IPv6 address, if a translator or tunnel would send it there. */
function embeddedIpv4({ parts: w }: ipaddr.IPv6): string | undefined {
  const dotted = (high: number, low: number) =>
    `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
  const starts = (...prefix: number[]) => prefix.every((word, i) => w[i] === word)
  const last = dotted(w[6]!, w[7]!)
  // ::a.b.c.d (old "compatible" form; :: and ::1 are their own), ::ffff:a.b.c.d (mapped), ::ffff:0:a.b.c.d (SIIT)
  if (starts(0, 0, 0, 0, 0, 0) && (w[6] !== 0 || w[7]! > 1)) return last
  if (starts(0, 0, 0, 0, 0, 0xffff) || starts(0, 0, 0, 0, 0xffff, 0)) return last
  // NAT64, well-known and local-use prefix
  if (starts(0x64, 0xff9b, 0, 0, 0, 0) || starts(0x64, 0xff9b, 1)) return last
  // 6to4
  if (starts(0x2002)) return dotted(w[1]!, w[2]!)
  // Teredo keeps the client's address inverted
  if (starts(0x2001, 0)) return dotted(w[6]! ^ 0xffff, w[7]! ^ 0xffff)
  // ISATAP, under any prefix
  if ((w[4]! & 0xfdff) === 0 && w[5] === 0x5efe) return last
  return undefined
}

/** The kind of an IP, with or without a zone (`%eth0`); an IPv4 address wrapped in an IPv6 one is what it wraps. */
export function classifyAddress(address: string): AddressKind {
  const parsed = ipaddr.parse(address.replace(/%.*$/, ''))
  const own = ipaddr.subnetMatch(parsed, SUBNETS, 'public') as AddressKind
  const inner = own === 'public' && parsed instanceof ipaddr.IPv6 ? embeddedIpv4(parsed) : undefined
  return inner === undefined ? own : classifyAddress(inner)
}

/** The target of a webhook URL, or why it's none: the end of a sentence that starts with "the URL". */
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

export type AddressPolicyDeps = {
  /** Public hosts that may be reached, by name or IP (`--webhook-allow`). */
  allow: readonly string[]
  /** The resolver; tests pass their own. */
  lookup?: typeof dns.lookup
}

/**
 * Decides where webhooks may go: loopback and private addresses always, public ones when their host was listed, link-local
 * and cloud-metadata ones never. A connection uses the lookup that is checked. Throws if an entry of `allow` is not a host.
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

  /** Why the host of a URL is forbidden before any lookup: a literal address, or the name of a metadata service. */
  function hostProblem(host: string): string | undefined {
    if (isIP(host) !== 0) return addressProblem(host, host)
    if (METADATA_LABELS.has(host.toLowerCase().split('.', 1)[0]!))
      return `${host} names a cloud metadata service; webhooks are never sent there`
    return undefined
  }

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
        const error = new Error(why ?? `${name} resolves to no address`)
        return callback(Object.assign(error, { code: 'ADDRESS_NOT_ALLOWED' }), [])
      }
      if (options.all) callback(null, usable)
      else callback(null, first.address, first.family)
    })
  }

  return { hostProblem, addressProblem, warningFor, lookup: guardedLookup }
}
