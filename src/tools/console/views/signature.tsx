// The signature of an attempt: masked until somebody asks, then all that it's made of, to compare with.
import { useState } from 'preact/hooks'
import Go from '../../../../clients/go/payoutsandbox.go'
import Java from '../../../../clients/java/PayoutSandbox.java'
import PHP from '../../../../clients/php/PayoutSandbox.php'
import Python from '../../../../clients/python/payout_sandbox.py'
import Node from '../../../../docs/webhooks.md'
import { type Attempt, callOf, type Delivery } from '../api.ts'
import { Choice, Input } from '../fields.tsx'
import { Button, Copy, Facts, Id, Text } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'

/** Their verifiers alone: the build leaves the rest of these files out. */
const VERIFIERS: Readonly<Record<string, string>> = { Node, Python, Java, Go, PHP }

/** What was signed, and what the attempt sent. */
type Signed = { text: string; header: string | undefined; ofBody: string | undefined }

function differenceOf(mine: string, right: string): string {
  let at = 0
  while (at < right.length && mine[at] === right[at]) at++
  const [yours, ours] = [mine, right].map((text) => JSON.stringify(text.slice(at, at + 20)))
  return `The first difference is at character ${at + 1}: yours has ${yours}, ours ${ours}.`
}

const hexOf = (base64: string) =>
  [...atob(base64)].map((one) => one.charCodeAt(0).toString(16).padStart(2, '0')).join('')

/** Compares what the code of the user computed with what was sent: a signature with or without `v1,`, or the signed text. */
function compareText(mine: string, { text, header = '', ofBody = '' }: Signed): string {
  const given = mine.trim()
  if (given === '') return ''
  if (given === text.trim()) return 'Equal: you sign the right text.'
  // Longer than signatures, or with spaces, braces and dots.
  if (given.length > 200 || /[^\w+/=, -]/.test(given))
    return `Another text is signed. ${differenceOf(given, text)}`
  const right = header.split(' ').map((one) => one.replace(/^v1,/, ''))
  const bare = given.replace(/^v1,/, '')
  if (given === header || right.includes(bare)) return 'Equal: it verifies.'
  if (bare === ofBody) return 'Equal to x-webhook-signature, which is of the body alone.'
  const isHex = /^[\da-f]{64}$/i.test(bare)
  if (isHex && header !== '' && bare.toLowerCase() === hexOf(right[0]!))
    return 'The same in hex, but webhook-signature is base64.'
  const like = (isHex && ofBody) || right[0] || ofBody
  return `Not equal. ${differenceOf(bare, like)} Compare the text that you sign, and the secret.`
}

const FORGED = {
  wrong: 'signed with another secret; your handler must reject it',
  missing: 'no signature was sent',
  rotated: 'one with a new secret first, then the right one',
  stale: 'the timestamp is one hour before the attempt',
} as const

type Of = { attempt: Attempt; delivery: Delivery }

function Bench({ attempt, delivery }: Of) {
  const [mine, setMine] = useState('')
  const [language, setLanguage] = useState('Node')
  const call = callOf('getDelivery', {
    params: { id: delivery.delivery_id },
    query: { reveal: 'true' },
  })
  const { data } = useLoaded(call)
  const { headers } = data?.attempts.find(({ number }) => number === attempt.number) ?? {}
  if (!data || !headers) return null
  const header = headers['webhook-signature']
  const ofBody = headers['x-webhook-signature']
  const before = header ? `${headers['webhook-id']}.${headers['webhook-timestamp']}.` : ''
  const text = `${before}${data.body}`
  const verdict = compareText(mine, { text, header, ofBody })
  return (
    <>
      <Facts
        facts={{
          ...(header && { 'webhook-signature': <Id id={header} /> }),
          ...(ofBody && { 'x-webhook-signature': <Id id={ofBody} /> }),
          Secret: <Id id={data.secret ?? ''} />,
        }}
      />
      <p class="hint">
        {header?.includes(' ') &&
          'Two signatures, because the secret can be read as plain characters and as base64; one that matches is enough. '}
        They are made with the present secret.
      </p>
      <div class="bar apart">
        <h3>Signed text</h3>
        <Copy label="Copy" name="Signed text" text={text} />
      </div>
      {/* As it is: JSON that is laid out anew has another signature. */}
      <pre tabIndex={0} role="group" aria-label="Signed text">
        {text}
      </pre>
      <div class="row">
        <Input
          label="Compare with mine"
          value={mine}
          onInput={setMine}
          placeholder="signature or signed text"
        />
        <p role="status" class={verdict.startsWith('Equal') ? 'shape good' : 'failed'}>
          {verdict}
        </p>
      </div>
      <div class="row">
        <Choice
          label="How to verify it"
          value={language}
          values={Object.keys(VERIFIERS)}
          onInput={setLanguage}
        />
        <Copy label="Copy" name={language} text={VERIFIERS[language]!} />
      </div>
      <Text label={language} value={VERIFIERS[language]} />
    </>
  )
}

export function Signature({ attempt, delivery }: Of) {
  const [isShown, setShown] = useState(false)
  const { fault, rule } = delivery
  const word = fault?.signature ?? fault?.timestamp
  const isSigned = Object.keys(attempt.headers).some((name) => name.endsWith('webhook-signature'))
  return (
    <>
      {word && (
        <p class="failed">
          Forged by rule {rule}: {FORGED[word]}.
        </p>
      )}
      <p class="bar">
        Signature{' '}
        {isSigned ? (
          <Button label={isShown ? 'Hide' : 'Reveal'} onPress={() => setShown(!isShown)} />
        ) : (
          'none'
        )}
      </p>
      {isShown && <Bench attempt={attempt} delivery={delivery} />}
    </>
  )
}
