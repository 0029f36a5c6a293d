// The tools that look at the world, and move it as a whole.
import * as z from 'zod'
import type { ResponseBody } from '../../../admin/caller.ts'
import { lastResult } from '../../../model/feed-kinds.ts'
import { DEFAULT_CLIENT } from '../../../world/client-rows.ts'
import { RESET_PARTS } from '../../../world/world-content.ts'
import { defineTool, linesOf, listText, Name, requestLine, shortJson, ToolError } from '../tool.ts'

type TableDiff = ResponseBody<'diffSnapshot'>['tables'][string]

const SHOWN = 5
const SHOWN_TIMERS = 10

function tokenText(name: string, token: string | undefined): string {
  if (token !== undefined) return `Authorization: Bearer ${token}`
  return name === DEFAULT_CLIENT
    ? 'the token is not known here; the sandbox prints it at start'
    : `the token is sbx_${name}, unless the client was created with another one`
}

const look = defineTool('look', {
  title: 'Look at the sandbox',
  description: 'Shows the address, clock, scenario, counts, and what failed last.',
  readOnly: true,
  input: z.strictObject({}),
  async run(_args, { admin, url, token, note }) {
    const callsWith = (status: object) =>
      admin('findRequests', { body: { match: { status }, limit: SHOWN } })
    const [client, failed, broken, payments, deliveries] = await Promise.all([
      admin('readClient'),
      callsWith({ gte: 400 }),
      callsWith({ absent: true }),
      admin('readTransactions', { query: { status: 'FAILED', limit: SHOWN } }),
      admin('listDeliveries', { query: { status: 'failed', limit: SHOWN } }),
    ])
    const { clock } = client
    const counts = Object.entries(client.counts).map(([what, count]) => `${what} ${count}`)
    return {
      text: linesOf(
        `Service: ${url}/v1 (${tokenText(client.name, token)})`,
        note && `Note: ${note}`,
        `Client: ${client.name}, ${client.status}; webhook: ${client.webhook_url ?? 'none'}`,
        `Clock: ${clock.now}, ${clock.mode}, ${clock.pending_timers} timers pending, the next at ${clock.next_timer_at ?? '-'}`,
        `Scenario: ${client.scenario}`,
        `Counts: ${counts.join(', ')}`,
        listText('Failed calls', failed.requests, requestLine, failed),
        listText('Calls without a response', broken.requests, requestLine, broken),
        listText(
          'Failed payments',
          payments.transactions,
          (one) => `${one.transaction_id} ${one.amount} ${one.history.updated_at}`,
          payments,
        ),
        listText(
          'Failed deliveries',
          deliveries.deliveries,
          (one) => `${one.delivery_id} ${one.event} ${one.resource_id}: ${lastResult(one)}`,
          deliveries,
        ),
      ),
      next:
        failed.total + broken.total > 0
          ? 'find_requests shows a failed call with its body; explain_payment says why a payment failed.'
          : clock.mode === 'frozen' && clock.pending_timers > 0
            ? 'the clock is frozen, so pending payments stay pending until advance_clock.'
            : 'call_service or your own code makes calls; then look again.',
    }
  },
})

const advanceClock = defineTool('advance_clock', {
  title: 'Make it be later',
  description:
    'Moves the clock by a duration, to an instant, or to the next timer, and runs what is due.',
  input: z.strictObject({
    by: z.string().optional().meta({ description: 'A duration such as 3s, 25m or 2d.' }),
    to: z.string().optional().meta({ description: 'An instant such as 2026-01-02T00:00:00Z.' }),
    next: z.literal(true).optional().meta({ description: 'Only to the next timer.' }),
  }),
  async run({ by, to, next }, { admin }) {
    const given = [by, to, next].filter((one) => one !== undefined).length
    if (given !== 1)
      throw new ToolError(
        `advance_clock takes exactly one of by, to and next; found ${given}.`,
        'call it again, for example with {"by": "25m"}.',
      )
    const moved = next
      ? await admin('advanceClockToNext')
      : await admin('advanceClock', { body: { by, to } })
    const total = moved.fired.length + (moved.left_out ?? 0)
    const ran = listText(
      'Ran',
      moved.fired,
      ({ at, kind, resource_id = '', ...more }) =>
        `${at} ${kind} ${resource_id} ${more['status'] ?? ''}`.trimEnd(),
      { total, shown: SHOWN_TIMERS },
    )
    return {
      text: `It is ${moved.now}.\n${ran}`,
      next:
        total > 0
          ? 'explain_payment shows a payment with its new state, read_webhooks the events that were sent.'
          : 'nothing was due; look says when the next timer is.',
    }
  },
})

const changesText = ([table, { added, removed, changed }]: [string, TableDiff]) =>
  linesOf(
    `${table}: ${added.length} added, ${removed.length} removed, ${changed.length} changed`,
    ...added.slice(0, SHOWN).map((id) => `  added ${id}`),
    ...removed.slice(0, SHOWN).map((id) => `  removed ${id}`),
    ...changed.slice(0, SHOWN).map(({ id, fields }) => `  changed ${id}: ${shortJson(fields)}`),
  )

const snapshot = defineTool('snapshot', {
  title: 'Save and restore the world',
  description: 'Saves the whole state under a name, goes back to it, or says what changed since.',
  input: z.strictObject({
    do: z.enum(['save', 'restore', 'changes', 'list', 'delete']),
    name: Name.optional().meta({ description: 'Such as before-retry; not for list.' }),
  }),
  async run({ do: action, name = '' }, { admin }) {
    if (action !== 'list' && name === '')
      throw new ToolError(
        `snapshot with do: ${action} needs a name; found none.`,
        'call it again with a name; do: list shows those that exist.',
      )
    const params = { name }
    switch (action) {
      case 'list': {
        const { snapshots } = await admin('listSnapshots')
        return {
          text: listText('Snapshots', snapshots, (one) => `${one.name}, taken at ${one.taken_at}`),
          next: 'snapshot with do: restore goes back to one of them.',
        }
      }
      case 'save': {
        const { taken_at, replaced } = await admin('saveSnapshot', { body: params })
        return {
          text: `Saved ${name} at ${taken_at}${replaced ? '; it replaced an older one' : ''}.`,
          next: `try anything, then call snapshot with do: restore and name: ${name}.`,
        }
      }
      case 'restore': {
        const { now } = await admin('restoreSnapshot', { params })
        return { text: `Restored ${name}. It is ${now}.`, next: 'look shows the state.' }
      }
      case 'delete':
        await admin('deleteSnapshot', { params })
        return { text: `Deleted ${name}.`, next: 'snapshot with do: list shows the others.' }
      case 'changes': {
        const { tables } = await admin('diffSnapshot', { params })
        return {
          text: listText(`Changes since ${name}`, Object.entries(tables), changesText),
          next: `snapshot with do: restore and name: ${name} undoes them.`,
        }
      }
    }
  },
})

const reset = defineTool('reset', {
  title: 'Start again',
  description: 'Resets this client, or parts of it, to the state at the start.',
  input: z.strictObject({
    parts: z
      .array(z.enum(RESET_PARTS))
      .min(1)
      .optional()
      .meta({ description: 'Default: all parts. scenario also removes the pushed rules.' }),
  }),
  async run({ parts }, { admin }) {
    const done = await admin('reset', { body: { parts } })
    return { text: `Reset: ${done.parts.join(', ')}.`, next: 'look shows the state.' }
  },
})

export const worldTools = [look, advanceClock, snapshot, reset]
