import { once } from 'node:events'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { createCaller, type Target } from '../admin/caller.ts'
import type { Access, ToolResult } from '../tools/mcp/tool.ts'
import type { SweepArguments } from '../tools/mcp/tools/sweep.ts'
import type { Command, Input } from './command.ts'
import { gatherOptions, givenVariables } from './options.ts'
import { note } from './output.ts'
import { ADDRESS_FLAGS, targetOf } from './remote.ts'

const PROBE_MS = 1_000

const hasAddress = ({ flags, env }: Input) =>
  ['url', 'port', 'host'].some((name) => flags[name] !== undefined) ||
  Boolean(env['PAYOUT_SANDBOX_URL'])

/** Whether a sandbox responds at the address that `start` has by default. */
function isRunning(input: Input): Promise<boolean> {
  const call = createCaller(
    { ...targetOf(input), timeoutMs: PROBE_MS },
    ({ url }) => new Error(`no sandbox at ${url}`),
  )
  return call('getHealth').then(
    () => true,
    () => false,
  )
}

/** The sandbox that an agent uses; `close` stops it, if it is an own one. */
type Sandbox = { access: Access; close?: () => Promise<void> }

const urlOf = ({ base }: Target) => base.href.replace(/\/$/, '')

function unusedNote(env: NodeJS.ProcessEnv): string | undefined {
  const unused = givenVariables(env, ['host', 'port', 'admin-token'])
  if (unused.length === 0) return undefined
  return `attached to a running sandbox; ${unused.join(', ')} ${unused.length === 1 ? 'was' : 'were'} not used`
}

function attach(target: Target, env: NodeJS.ProcessEnv): Access {
  const unused = unusedNote(env)
  if (unused !== undefined) note(unused)
  return { target, url: urlOf(target), token: env['PAYOUT_SANDBOX_TOKEN'], note: unused }
}

async function connectOrStart(input: Input): Promise<Sandbox> {
  const running = targetOf(input)
  if (hasAddress(input) || (await isRunning(input))) return { access: attach(running, input.env) }
  const options = gatherOptions({ port: '0', memory: true }, input.env, { 'log-level': 'warn' })
  const { startOrExplain } = await import('./serve.ts')
  const server = await startOrExplain(options)
  const own = { base: new URL(running.base.pathname, server.url), token: server.adminToken }
  const token = own.base.pathname === '/' ? server.token : undefined
  note(`no sandbox runs, so this one was started: ${server.url}`)
  return { access: { target: own, url: urlOf(own), token }, close: server.close }
}

/** What an agent sends. Some shells put a byte-order mark before the first message, and no line end after the last one. */
async function* messagesIn(stdin: NodeJS.ReadStream) {
  let mark = /^\ufeff/
  for await (const text of stdin.setEncoding('utf8')) {
    yield Buffer.from(text.replace(mark, ''))
    mark = /^$/
  }
  yield Buffer.from('\n')
}

const agentGone = (stdin: Readable): Promise<unknown> =>
  Promise.race([
    once(stdin, 'end'),
    ...['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => once(process, name)),
  ])

export const mcp: Command = {
  name: 'mcp',
  isTool: true,
  summary: 'connect an agent (MCP over stdin and stdout) to a sandbox',
  usage: [['mcp', 'connect an agent to a running sandbox, or start one in memory']],
  flags: ADDRESS_FLAGS,
  examples: ['mcp', 'mcp --url http://127.0.0.1:4310/@agent'],
  async run(input) {
    const { access, close } = await connectOrStart(input)
    const [{ StdioServerTransport, serveStdio }, { createMcpServer }, { createSweepTool }] =
      await Promise.all([
        import('@modelcontextprotocol/server/stdio'),
        import('../tools/mcp/server.ts'),
        import('../tools/mcp/tools/sweep.ts'),
      ])
    const sweep = createSweepTool((args, signal) => sweepForAgent(input.env, args, signal))
    const stdin = Readable.from(messagesIn(process.stdin))
    const ended = agentGone(stdin)
    const server = serveStdio(() => createMcpServer(access, [sweep]), {
      transport: new StdioServerTransport(stdin, process.stdout),
      maxSubscriptions: 0,
    })
    await ended
    await server.close()
    await close?.()
    return 0
  },
}

async function sweepForAgent(
  env: NodeJS.ProcessEnv,
  { command, only, points, clock, max_runs: maxRuns, max_time: maxTime, report }: SweepArguments,
  signal: AbortSignal,
): Promise<ToolResult> {
  const flags = {
    points,
    'max-time': maxTime,
    ...(only && { only: only.join(',') }),
    ...(clock !== undefined && { clock }),
    ...(maxRuns !== undefined && { 'max-runs': String(maxRuns) }),
    report,
  }
  const { runSweep } = await import('./sweep-run.ts')
  const result = await runSweep({ args: [], program: command, flags, env }, signal)
  const [{ countsText }, { listText }] = await Promise.all([
    import('../tools/sweep/report/sweep-json.ts'),
    import('../tools/mcp/tool.ts'),
  ])
  const { findings } = result
  const found = listText(
    'Findings',
    findings,
    ({ finding, level, verdict, what, happened, reproduce }) =>
      `${finding}, ${level}, ${verdict}: ${what}\n  ${happened}\n  see it again: ${reproduce}`,
  )
  const more =
    result.untried.length > 0
      ? ' Not all runs were made: call again with a larger max_time for the rest.'
      : ''
  return {
    text: `${countsText(result)}\n${found}\nThe report is in ${resolve(report)}`,
    next:
      findings.length > 0
        ? `correct the first finding in your code, then sweep with only that fault.${more}`
        : `nothing broke.${more} points: all tries more calls.`,
  }
}
