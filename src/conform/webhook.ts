import { randomBytes } from 'node:crypto'
import { valueAt } from '../model/validation-errors.ts'
import { readWebhook } from './reads.ts'
import { createEqualityCheck } from './records.ts'
import type { AllowedErrors } from './session.ts'
import type { Writer } from './writer.ts'

// A reserved name (RFC 2606) that never resolves, so no event is sent to a third party.
const UNREACHABLE_URL = 'https://example.invalid/payout-sandbox-conform'
// The contract does not say that one of the two fields can be sent alone; the sandbox allows it.
const ONE_FIELD: AllowedErrors = { statuses: [400, 422], reportAs: 'unchecked' }
const URL_FIELD = 'updatedWebhook.response.data.url'

/** Changes the URL and checks that the response and a later read contain it. */
async function changeUrl({ session, findings }: Writer, url: string, secret?: string) {
  const body = { url, ...(secret !== undefined && { webhook_secret: secret }) }
  const allowedErrors = secret === undefined ? ONE_FIELD : undefined
  const found = await session.expectSuccess('updateWebhook', { body }, allowedErrors)
  if (!found) return
  const returned = valueAt(found.body, ['updatedWebhook', 'response', 'data', 'url'])
  createEqualityCheck(findings, found.source, 'the sent value')(URL_FIELD, returned, url)
  checkUrl({ session, findings }, await readWebhook(session), url)
}

function checkUrl(
  { session, findings }: Pick<Writer, 'session' | 'findings'>,
  found: Awaited<ReturnType<typeof readWebhook>>,
  url: string,
) {
  const source = { op: session.opOf('getWebhook'), call: 'after an update' }
  if (found === 'none') findings.addDifference(source, 'HTTP status', '200', '404')
  else if (found)
    createEqualityCheck(findings, source, 'the sent value')('data.url', found.url, url)
}

/**
 * Changes the URL of the webhook and restores it; its secret, which no response contains, is not changed. If there is no
 * webhook, creates one. It is not deleted, because the contract has no endpoint for that.
 */
export async function writeWebhook(writer: Writer): Promise<void> {
  const { session, findings, create, expectError, checkMasked } = writer
  const before = await readWebhook(session)
  const createOp = session.opOf('createWebhook')
  if (before === undefined)
    return findings.markUnchecked(createOp, 'the current webhook could not be read')
  if (before !== 'none') {
    findings.markUnchecked(
      createOp,
      'a webhook exists already, and its secret could not be restored',
    )
    try {
      await changeUrl(writer, UNREACHABLE_URL)
    } finally {
      // Even after a failure: a call without a response can have changed the URL.
      await changeUrl(writer, before.url)
    }
    return
  }
  const webhook_secret = `whsec_${randomBytes(24).toString('base64')}`
  await expectError('createWebhook', 'validation_failed', 'an invalid URL', {
    url: 'nowhere',
    webhook_secret,
  })
  const found = await create('createWebhook', { url: UNREACHABLE_URL, webhook_secret })
  if (!found) return
  const data = valueAt(found.body, ['updatedWebhook', 'response', 'data'])
  createEqualityCheck(findings, found.source, 'the sent value')(
    URL_FIELD,
    valueAt(data, ['url']),
    UNREACHABLE_URL,
  )
  checkMasked(found, [webhook_secret])
  checkUrl(writer, await readWebhook(session), UNREACHABLE_URL)
  await expectError('updateWebhook', 'validation_failed', 'an empty object', {})
  await changeUrl(writer, `${UNREACHABLE_URL}/2`, webhook_secret)
}
