import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { type SandboxOptions, startSandbox } from '../../../src/index.ts'
import { type ConformReport, conform } from '../../../src/tools/conform/conform.ts'
import type { Finding } from '../../../src/tools/conform/findings.ts'
import { portOf } from '../../listening.ts'

/** An answer on its way through the proxy, to be altered. */
export type Passing = {
  status: number
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: a test alters what it wants.
  body: any
  /** In place of the body, as text. */
  text?: string
}

/** What a proxy does: by `GET /users`, as the report names endpoints; it may answer with nothing at all. */
export type Alter = (
  passing: Passing,
  request: { url: URL; headers: IncomingMessage['headers']; body: string; nth: number },
) => void

/** Which endpoint a call is for, as the report names it. */
function endpointOf(method: string, path: string): string {
  const url = path
    .replace(/^\/v1/, '')
    .replace(/^\/(user|kyc|bank)\/[^/]+$/, '/$1/:userId')
    .replace(/^\/transaction\/history\/user\/[^/]+$/, '/transaction/history/user/:userId')
    .replace(/^\/transaction\/(?!history)[^/]+$/, '/transaction/:transaction_id')
  return `${method} ${url}`
}

/** A server on a free port, closed when the test ends; answers with its base URL. */
export async function listen(
  t: Test,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  return `http://127.0.0.1:${await portOf(t, createServer(answer))}/v1`
}

type Answered = { status: number; headers: Record<string, string>; text: string }

/**
 * Stands before a sandbox and alters what it answers. Proxies before one sandbox that is only read can share `known`, so
 * that each call reaches it once.
 */
export const proxy = (
  t: Test,
  target: string,
  alterations: Readonly<Record<string, Alter>>,
  known?: Map<string, Answered>,
) => {
  const count = new Map<string, number>()
  return listen(t, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString('utf8')
    const { method = 'GET', headers } = request
    const url = new URL(request.url!, target)
    const names = ['authorization', 'content-type', 'idempotency-key']
    const ask = async (): Promise<Answered> => {
      const answer = await fetch(url, {
        method,
        headers: names.flatMap((name) => {
          const value = headers[name]
          return value === undefined ? [] : [[name, String(value)] as [string, string]]
        }),
        ...(method !== 'GET' && { body }),
      })
      const { status } = answer
      return { status, headers: Object.fromEntries(answer.headers), text: await answer.text() }
    }
    const call = `${method} ${url} ${headers.authorization}`
    const answer = known?.get(call) ?? (await ask())
    known?.set(call, answer)
    const passing: Passing = {
      status: answer.status,
      headers: { ...answer.headers },
      body: JSON.parse(answer.text),
    }
    const endpoint = endpointOf(method, url.pathname)
    const nth = (count.get(endpoint) ?? 0) + 1
    count.set(endpoint, nth)
    alterations[endpoint]?.(passing, { url, headers, body, nth })
    const text = passing.text ?? JSON.stringify(passing.body)
    const { 'content-length': _, connection: __, 'keep-alive': ___, ...kept } = passing.headers
    response.writeHead(passing.status, kept).end(text)
  })
}

/** A sandbox that stands still, closed when the test ends. */
export async function sandbox(t: Test, options: SandboxOptions = {}) {
  const running = await startSandbox({ clock: 'frozen', logLevel: 'silent', ...options })
  t.teardown(() => running.close())
  return running
}

/** Checks a sandbox behind a proxy by the contract. */
export async function held(
  t: Test,
  alterations: Readonly<Record<string, Alter>>,
  { write = false, ...options }: SandboxOptions & { write?: boolean } = {},
): Promise<ConformReport> {
  const { url, token } = await sandbox(t, options)
  return conform({ base: await proxy(t, url, alterations), token, write })
}

/** Findings as lines: endpoint, field, expected, found. */
export const lines = (findings: readonly Finding[]): string[] =>
  findings.map(
    ({ endpoint, field, expected, found }) => `${endpoint} ${field}: ${expected}; ${found}`,
  )

/** Only where they are, each place once. */
export const places = (findings: readonly Finding[]): string[] =>
  [...new Set(findings.map(({ endpoint, field }) => `${endpoint} ${field}`))].sort()
