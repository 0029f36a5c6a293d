import { useState } from 'preact/hooks'
import { Act } from '../act.tsx'
import { BASE, type Client, callOf } from '../api.ts'
import { useClient } from '../client.ts'
import { Fold, Form, Input, useFields } from '../fields.tsx'
import { serviceCall } from '../service.ts'

const inboxPath = `${BASE}/__admin${callOf('receiveWebhook').path}`
const inboxUrl = `${location.origin}${inboxPath}`
// As a timeline registers it, before there is a port.
export const isInbox = (url: string | null) =>
  url === inboxUrl || url?.endsWith(`//inbox.localhost${inboxPath}`) === true

/** A new secret in the form that the webhook libraries create. */
function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24))
  return `whsec_${btoa(String.fromCharCode(...bytes))}`
}

const webhookCall = ({ webhook_url: old }: Client, url: string, secret: string) =>
  serviceCall(old === null ? 'createWebhook' : 'updateWebhook', { url, webhook_secret: secret })

export function UseInbox() {
  const client = useClient()
  const [secret] = useState(newSecret)
  return (
    <Act
      label="Use the inbox"
      effect="The inbox receives your events."
      disabled={isInbox(client.webhook_url)}
      call={webhookCall(client, inboxUrl, secret)}
    />
  )
}

function WebhookForm() {
  const client = useClient()
  const [secret] = useState(newSecret)
  const { fields, field } = useFields({ url: '', secret })
  return (
    <Form>
      <Input
        label="URL"
        name="url"
        {...field('url')}
        placeholder={`${location.protocol}//127.0.0.1:8080/webhook`}
      />
      <Input label="Secret" name="webhook_secret" {...field('secret')} />
      <Act
        submit
        label="Set the webhook"
        effect={`Events are sent to ${fields.url}.`}
        disabled={fields.url === ''}
        call={webhookCall(client, fields.url, fields.secret)}
      />
    </Form>
  )
}

export function Webhook() {
  const { webhook_url: url } = useClient()
  const receiver = (
    <div class="row">
      {url === null ? (
        <p>Nobody receives the events: no webhook is registered, so they are recorded, not sent.</p>
      ) : (
        <p>
          Events are sent to <code>{url}</code>
          {isInbox(url) && ', the built-in inbox. It accepts every event and checks its signature'}.
        </p>
      )}
      <UseInbox />
    </div>
  )
  return (
    <>
      {url === null && receiver}
      <Fold title={url === null ? 'Set another receiver' : 'Webhook'}>
        {url !== null && receiver}
        <WebhookForm />
      </Fold>
    </>
  )
}
