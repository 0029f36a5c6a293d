import { secondWebhook } from '../assumptions/webhooks.ts'
import { SandboxError } from '../model/errors.ts'
import type { CreateWebhook, UpdateWebhook, WebhookRow } from '../model/webhook.ts'
import type { WorldContext } from '../tables/world-context.ts'
import { OWN_ORIGIN } from './addresses.ts'

/** The client's one webhook registration (interface 4.7; defaults: Webhook). */
export function createWebhooks(
  { store, random, assumed }: WorldContext,
  onUrl: (url: string) => void,
) {
  const current = () => store.tables.webhook.newest('all', 'all')?.row

  function get(): WebhookRow {
    const row = current()
    if (!row)
      throw new SandboxError(
        'not_found',
        'This client has no webhook yet. Create one with POST /clientWebhook.',
      )
    return row
  }

  /** Whether no one has registered a receiver: there is none, or a timeline has registered the inbox. */
  const isFree = (row: WebhookRow | undefined) => !row || row.url.startsWith(OWN_ORIGIN)

  return {
    get,
    current,
    create: ({ url, webhook_secret }: CreateWebhook) =>
      store.change(() => {
        const earlier = current()
        if (!isFree(earlier) && assumed.get(secondWebhook) === 'conflict')
          throw new SandboxError(
            'webhook_exists',
            'This client already has a webhook. Change it with PUT /clientWebhook.',
          )
        const webhook_id = earlier?.webhook_id ?? random.uuid()
        onUrl(url)
        return store.put('webhook', { ...earlier, webhook_id, url, webhook_secret }).row
      }),
    /** Registers the client's built-in inbox, if there is no webhook. */
    useInbox() {
      if (current()) return
      const base = store.name === 'default' ? '' : `/@${store.name}`
      const url = `${OWN_ORIGIN}${base}/__admin/webhooks/inbox`
      store.put('webhook', { webhook_id: random.uuid(), url, webhook_secret: random.uuid() })
    },
    update: ({ url, webhook_secret }: UpdateWebhook) =>
      store.change(() => {
        const row = get()
        if (url !== undefined) onUrl(url)
        return store.put('webhook', {
          ...row,
          url: url ?? row.url,
          webhook_secret: webhook_secret ?? row.webhook_secret,
        }).row
      }),
  }
}

export type Webhooks = ReturnType<typeof createWebhooks>
