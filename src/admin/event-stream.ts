import { adminRoute } from '../model/admin-routes.ts'
import type { SandboxEvent } from '../model/feed-kinds.ts'
import { adminBase, type FailedCall, parseBody, type Target, tokenHeader } from './caller.ts'
import { open } from './exchange.ts'

/** Parses one block of a server-sent event stream. Returns `undefined` for a comment. */
function parseEvent(block: string): SandboxEvent | undefined {
  const fields = Object.fromEntries(
    block.split('\n').map((line) => {
      const [name = '', ...value] = line.split(': ')
      return [name, value.join(': ')]
    }),
  )
  if (fields['data'] === undefined) return undefined
  return {
    id: fields['id'] ?? '',
    kind: fields['event'] as SandboxEvent['kind'],
    data: JSON.parse(fields['data']),
  }
}

/** Reads the live events of a world, until the sandbox stops or the loop is left. */
export async function* readEvents(
  target: Target,
  errorOf: (failed: FailedCall) => Error,
  { lastEventId }: { lastEventId?: string },
): AsyncGenerator<SandboxEvent> {
  const { method, url: path } = adminRoute('streamEvents')
  const url = adminBase(target) + path
  const call = { method, url }
  const headers = {
    ...tokenHeader(target),
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  }
  const response = await open(new URL(url), { headers }).catch((cause: unknown) => {
    throw errorOf({ ...call, status: 0, cause })
  })
  response.setEncoding('utf8')
  let text = ''
  for await (const chunk of response) {
    text += chunk
    if (response.statusCode !== 200) continue
    const blocks = text.split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) {
      const event = parseEvent(block)
      if (event) yield event
    }
  }
  const status = response.statusCode ?? 0
  if (status !== 200) throw errorOf({ ...call, status, ...parseBody(text) })
}
