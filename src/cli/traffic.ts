import { allPages } from '../admin/admin-client.ts'
import type { FailedCall, ResponseBody } from '../admin/caller.ts'
import { BadOption } from '../config/options.ts'
import { isRejected, lastResult, nextAttempt, sentStatus } from '../model/feed-kinds.ts'
import type { Har } from '../model/logged-request.ts'
import { countOf } from '../model/words.ts'
import { type Report, reportOfOne } from '../tools/report/report.ts'
import { oneLine, table } from '../tools/report/table.ts'
import { type Command, CommandFailed, type Input, numberFlag, parseJsonObject } from './command.ts'
import { missedGates, readGates } from './coverage-gates.ts'
import { openReport, prepareFile, REPORT_FLAG } from './output.ts'
import { remoteCommand, shown } from './remote.ts'

const MAX_EXPECTED_COUNT = 1_000_000
const MAX_LIMIT = 1_000
const MAX_WAIT = 60

const LIMIT_FLAG = { limit: ['N', 'maximum number of results (default: 50)'] } as const
const FILTER_FLAGS = {
  operation: ['ID', 'filter by operation, such as createTransaction'],
  method: ['METHOD', 'filter by HTTP method'],
  path: ['PATH', 'filter by path, such as /v1/users'],
  status: ['STATUS', 'filter by HTTP status'],
} as const
const filterOf = ({ operation, method, path, status }: Input['flags']) =>
  ({ operation, method, path, status }) as object
const limitOf = (flags: Input['flags']) => numberFlag(flags, 'limit', 1, MAX_LIMIT)

const moreText = (hidden: number) =>
  hidden > 0 ? `… and ${hidden} more; --limit shows more\n` : ''

function listText({ total, dropped, requests }: ResponseBody<'listRequests'>): string {
  const hasOthers = requests.some(({ client = 'default' }) => client !== 'default')
  const ofClient = hasOthers ? ['client'] : []
  const rows = requests.map((one) => [
    one.at,
    ...(hasOthers ? [one.client] : []),
    ...[one.method, one.path, one.operation, one.status ?? 'broken', one.duration_ms, one.rule],
  ])
  const head = ['at', ...ofClient, 'method', 'path', 'operation', 'status', 'ms', 'rule']
  return (
    table(head, rows, 'no matching requests') +
    moreText(total - requests.length) +
    (dropped > 0 ? `${dropped} older requests are no longer in the log\n` : '')
  )
}

const COUNT_FLAGS = {
  exactly: ['N', 'expected number of matches'],
  'at-least': ['N', 'minimum number of matches (default: 1, if no other number is given)'],
  'at-most': ['N', 'maximum number of matches'],
} as const

type VerifyError = Required<NonNullable<FailedCall['body']>>

function verifyReport(body: object, ms: number, failed: VerifyError | undefined): Report {
  const subject = JSON.stringify(body)
  return reportOfOne(
    { title: 'payout-sandbox requests verify', subject, result: failed?.message ?? 'Verified' },
    { name: subject, group: 'verify', ms },
    failed && {
      type: failed.error,
      message: failed.message,
      details: failed.errors.map(({ field, message }) => `${field}: ${message}`).join('\n'),
    },
  )
}

export const requests = remoteCommand({
  name: 'requests',
  summary:
    'list, find, count, verify, export and clear the requests that a running sandbox received',
  subcommands: {
    '': {
      description: 'list requests to the service, newest first',
      flags: { ...FILTER_FLAGS, ...LIMIT_FLAG },
      async run(api, _args, flags, client) {
        const query = { client, ...filterOf(flags), limit: limitOf(flags) }
        const list = allPages((page = query) => api('listRequests', { query: page }))
        return shown(list(query), listText)
      },
    },
    find: {
      syntax: 'MATCH',
      description:
        'list requests that match a JSON object of operation, method, path, status and a rule’s conditions',
      flags: LIMIT_FLAG,
      async run(api, [text], flags, client) {
        const match = parseJsonObject('requests find', text!)
        const body = { client, match, limit: limitOf(flags) }
        const find = allPages((page = body) => api('findRequests', { body: page }))
        return shown(find(body), listText)
      },
    },
    count: {
      syntax: 'MATCH',
      description: 'print the number of matching requests',
      async run(api, [text], _flags, client) {
        const match = parseJsonObject('requests count', text!)
        return shown(api('countRequests', { body: { client, match } }), ({ count }) => `${count}\n`)
      },
    },
    verify: {
      syntax: 'MATCH [MATCH...]',
      description:
        'check the number of matching requests, or the order of several MATCH; if wrong, print the closest and exit 1',
      flags: { ...COUNT_FLAGS, ...REPORT_FLAG },
      async run(api, texts, flags, client) {
        const given = Object.keys(COUNT_FLAGS).filter((name) => flags[name] !== undefined)
        const counts = Object.fromEntries(
          given.map((name) => [
            name.replace('-', '_'),
            numberFlag(flags, name, 0, MAX_EXPECTED_COUNT),
          ]),
        )
        if (texts.length > 1 && given.length > 0)
          throw new BadOption(
            `requests verify takes ${Object.keys(COUNT_FLAGS)
              .map((name) => `--${name}`)
              .join(', ')} with one MATCH only; several MATCH are an order`,
          )
        const matches = texts.map((text) => parseJsonObject('requests verify', text))
        const report = openReport(flags)
        const startedAt = performance.now()
        const body = matches.length > 1 ? { sequence: matches } : { match: matches[0]!, ...counts }
        const write = (failed?: VerifyError) =>
          report(verifyReport(body, performance.now() - startedAt, failed))
        try {
          const response = await api('verifyRequests', { body: { client, ...body } })
          write()
          return { response, text: `ok, ${response.count} found\n` }
        } catch (error) {
          const failed =
            error instanceof CommandFailed && (error.response as VerifyError | undefined)
          if (failed && failed.error === 'verification_failed') write(failed)
          throw error
        }
      },
    },
    export: {
      description:
        'write requests, masked, to a HAR file, which browsers, Postman and proxies open',
      flags: { ...FILTER_FLAGS, har: ['FILE', 'HAR 1.2 file to write, for its owner alone'] },
      async run(api, _args, flags, client) {
        if (flags['har'] === undefined)
          throw new BadOption('requests export needs --har FILE, such as --har requests.har')
        const file = String(flags['har'])
        const save = prepareFile('--har', file, 0o600)
        const query = { client, ...filterOf(flags), format: 'har' } as const
        const har = (await api('listRequests', { query })) as unknown as Har
        save(`${JSON.stringify(har, null, 2)}\n`)
        const calls = har.log.entries.length
        const text = `${countOf(calls, 'call')} written to ${file}\n`
        return { response: { file, calls }, text }
      },
    },
    clear: {
      description: 'delete all logged requests',
      run: (api, _args, _flags, client) =>
        shown(
          api('deleteRequests', { query: { client } }),
          ({ deleted }) => `${deleted} deleted\n`,
        ),
    },
  },
  examples: [
    'requests --status 422 --limit 10',
    'requests find \'{"operation": "createTransaction", "body": {"amount": {"gt": 1000}}}\'',
    'requests verify \'{"operation": "createUser"}\' --exactly 1',
    'requests verify \'{"operation": "submitKyc"}\' \'{"operation": "createTransaction"}\'',
    'requests export --har requests.har --client worker-3',
    'requests clear',
  ],
})

const WAIT_TARGETS = ['request', 'delivery', 'transaction', 'kyc'] as const

export const wait = remoteCommand({
  name: 'wait',
  movesClock: true,
  summary: 'wait until a request, delivery, transaction or KYC record of a running sandbox matches',
  syntax: 'WHAT [MATCH]',
  description: `wait for one of ${WAIT_TARGETS.join(', ')} that matches a JSON object, and print it; exit 1 after the timeout`,
  flags: {
    advance: ['DURATION', 'move a frozen clock on meanwhile, from timer to timer, such as 2d'],
    timeout: ['SECONDS', 'how long to wait in real time (default: 10, at most 60)'],
  },
  async run(api, [what, text = '{}'], flags) {
    const target = WAIT_TARGETS.find((one) => one === what)
    if (!target)
      throw new BadOption(
        `wait takes one of ${WAIT_TARGETS.join(', ')}, not ${JSON.stringify(what)}`,
      )
    const { advance } = flags
    const body = {
      for: target,
      match: parseJsonObject('wait', text),
      timeout_ms: (numberFlag(flags, 'timeout', 0, MAX_WAIT) ?? 10) * 1_000,
      ...(advance !== undefined && { advance: String(advance) }),
    }
    return shown(
      api('wait', { body }),
      ({ advanced, ...found }) =>
        `${JSON.stringify(found[target], null, 2)}\n${
          advanced
            ? `the clock moved from ${advanced.from} to ${advanced.now}, and ${countOf(advanced.fired.length + (advanced.left_out ?? 0), 'timer')} ran\n`
            : ''
        }`,
    )
  },
  examples: [
    'wait transaction \'{"transaction_status": "success"}\' --advance 2d',
    'wait delivery \'{"event": "transaction.failed"}\' --timeout 30',
  ],
})

type Delivery = ResponseBody<'listDeliveries'>['deliveries'][number]

const deliveryTable = (deliveries: readonly Delivery[]): string =>
  table(
    ['created', 'delivery', 'event', 'resource', 'status', 'attempts', 'last response'],
    deliveries.map((one) => [
      one.created_at,
      one.delivery_id,
      one.event,
      one.resource_id,
      one.status,
      one.attempts.length,
      lastResult(one),
    ]),
    'no deliveries',
  )

function sentText(delivery: Delivery): string {
  const next = nextAttempt(delivery)
  return (
    `${oneLine(`${delivery.event} for ${delivery.resource_id}: ${sentStatus(delivery)}`)}\n` +
    (next === undefined ? '' : `${next}\n`)
  )
}

export const deliveries = remoteCommand({
  name: 'deliveries',
  summary: 'list the webhook deliveries of a running sandbox, or resend one',
  description: 'list deliveries, newest first; --redeliver resends one',
  flags: {
    redeliver: ['ID', 'resend this delivery now'],
    status: [
      'STATUS',
      'filter by status: pending, delivered, failed, dropped, cancelled or recorded',
    ],
    event: ['EVENT', 'filter by event'],
    resource: ['ID', 'filter by resource'],
    limit: ['N', 'maximum number of results (default: 50)'],
  },
  async run(api, _args, { redeliver, status, event, resource, limit }) {
    const filter = { status, event, resource_id: resource, limit }
    if (redeliver !== undefined) {
      if (Object.values(filter).some((value) => value !== undefined))
        throw new BadOption(
          'deliveries --redeliver excludes --status, --event, --resource and --limit: its ID selects the delivery',
        )
      return shown(api('redeliver', { params: { id: String(redeliver) } }), sentText, isRejected)
    }
    return shown(
      api('listDeliveries', { query: filter }),
      ({ total, deliveries }) => deliveryTable(deliveries) + moreText(total - deliveries.length),
    )
  },
  examples: [
    'deliveries',
    'deliveries --status failed --json',
    'deliveries --redeliver dlv_0a3e5b61acc8458a9a476e39c59787c8',
  ],
})

export const trigger = remoteCommand({
  name: 'trigger',
  summary: 'send a webhook event now',
  syntax: 'EVENT',
  description: 'send an event such as transaction.success; exit 1 if the receiver rejects it',
  flags: {
    resource: ['ID', 'resource of the event (default: the newest one of its kind)'],
    override: ['JSON', 'object of fields that replace fields of the event’s data'],
  },
  async run(api, [event], { resource, override }) {
    const body = {
      event,
      resource_id: resource,
      ...(override !== undefined && { override: parseJsonObject('--override', String(override)) }),
    }
    return shown(
      api('triggerWebhook', { body }),
      ({ deliveries }) => deliveries.map(sentText).join(''),
      ({ deliveries }) => deliveries.some(isRejected),
    )
  },
  examples: [
    'trigger webhook.test',
    'trigger transaction.success --resource a0000000-0000-4000-8000-000000000001',
    'trigger transaction.failed --override \'{"utr": null}\'',
  ],
})

export const MIN_COVERAGE_FLAG = {
  'min-coverage': [
    'GROUP=PERCENT,...',
    'least coverage of groups such as money=80,webhooks=60; exit 1 if there is less',
  ],
} as const satisfies Command['flags']

export const coverage = remoteCommand({
  name: 'coverage',
  ofProcess: true,
  summary: 'show what the callers of a running sandbox have met',
  description: 'show what all callers have met, of all that the contract permits',
  flags: MIN_COVERAGE_FLAG,
  async run(api, _args, flags) {
    const gates = readGates(flags['min-coverage'])
    const { coverageText } = await import('../tools/coverage/coverage-text.ts')
    return shown(
      api('getCoverage'),
      (found) => coverageText(found) + missedGates(found, gates).join(''),
      (found) => missedGates(found, gates).length > 0,
    )
  },
  examples: ['coverage', 'coverage --min-coverage money=80,webhooks=60'],
})
