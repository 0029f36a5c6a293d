import { randomBytes } from 'node:crypto'
import { valueAt } from '../model/issues.ts'
import { readWebhook } from './reads.ts'
import { sameAs } from './records.ts'
import type { MayRefuse } from './session.ts'
import type { Writer } from './writer.ts'

// Nothing is ever there (RFC 2606), so that no event reaches a stranger.
const NOWHERE = 'https://example.invalid/payout-sandbox-conform'
// That one field of two may be sent is a default of ours.
const ONE_FIELD: MayRefuse = { statuses: [400, 422], tell: 'unseen' }
const URL_FIELD = 'updatedWebhook.response.data.url'

/** Sends a new URL and holds that it is answered and read back. */
async function changeUrl({ session, findings }: Writer, url: string, secret?: string) {
  const body = { url, ...(secret !== undefined && { webhook_secret: secret }) }
  const mayRefuse = secret === undefined ? ONE_FIELD : undefined
  const found = await session.succeed('updateWebhook', { body }, mayRefuse)
  if (!found) return
  const answered = valueAt(found.body, ['updatedWebhook', 'response', 'data', 'url'])
  sameAs(findings, found.place, 'as sent')(URL_FIELD, answered, url)
  holdUrl({ session, findings }, await readWebhook(session), url)
}

function holdUrl(
  { session, findings }: Pick<Writer, 'session' | 'findings'>,
  found: Awaited<ReturnType<typeof readWebhook>>,
  url: string,
) {
  const place = { op: session.opOf('getWebhook'), call: 'after it was set' }
  if (found === 'none') findings.differs(place, 'HTTP status', '200', '404')
  else if (found) sameAs(findings, place, 'as sent')('data.url', found.url, url)
}

/**
 * Changes the webhook's URL and puts it back; its secret, which no answer shows, is not touched. Where there is none, one
 * is made, which stays: the contract has no way to delete it.
 */
export async function writeWebhook(writer: Writer): Promise<void> {
  const { session, findings, create, refused, holdHidden } = writer
  const before = await readWebhook(session)
  const make = session.opOf('createWebhook')
  if (before === undefined)
    return findings.unseen(make, 'whether there is a webhook could not be read')
  if (before !== 'none') {
    findings.unseen(make, 'there is a webhook, whose secret could not be put back')
    try {
      await changeUrl(writer, NOWHERE)
    } finally {
      // Whatever came of it: a call without an answer may have been carried out.
      await changeUrl(writer, before.url)
    }
    return
  }
  const webhook_secret = `whsec_${randomBytes(24).toString('base64')}`
  await refused('createWebhook', 'validation_failed', 'a URL that is none', {
    url: 'nowhere',
    webhook_secret,
  })
  const found = await create('createWebhook', { url: NOWHERE, webhook_secret })
  if (!found) return
  const data = valueAt(found.body, ['updatedWebhook', 'response', 'data'])
  sameAs(findings, found.place, 'as sent')(URL_FIELD, valueAt(data, ['url']), NOWHERE)
  holdHidden(found, [webhook_secret])
  holdUrl(writer, await readWebhook(session), NOWHERE)
  await refused('createWebhook', 'webhook_exists', 'a second webhook', {
    url: NOWHERE,
    webhook_secret,
  })
  await refused('updateWebhook', 'validation_failed', 'an empty object', {})
  await changeUrl(writer, `${NOWHERE}/2`, webhook_secret)
}
