// The signature of an attempt: masked until somebody asks, then all that it's made of, to compare with.
import { useState } from 'preact/hooks'
import Go from '../../../../clients/go/payoutsandbox.go'
import Java from '../../../../clients/java/PayoutSandbox.java'
import PHP from '../../../../clients/php/PayoutSandbox.php'
import Python from '../../../../clients/python/payout_sandbox.py'
import Node from '../../../../docs/webhooks.md'
import { type Attempt, callOf, type Delivery } from '../api.ts'
import { Copy } from '../copy.tsx'
import { Choice, Input } from '../fields.tsx'
import { Button, Facts, Id, Text } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { compareText } from './signature-words.ts'

/** Their verifiers alone: the build leaves the rest of these files out. */
const VERIFIERS: Readonly<Record<string, string>> = { Node, Python, Java, Go, PHP }

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
