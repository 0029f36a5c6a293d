import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { VERSION } from '../../config/package.ts'
import { fieldErrors, LIST_KNOWN_KEYS, parseSent } from '../../model/validation-errors.ts'
import { didYouMean } from '../../model/words.ts'
import { PROMPTS } from './prompts.ts'
import { listResources } from './resources.ts'
import {
  type Access,
  connect,
  explainError,
  shortText,
  type Tool,
  ToolError,
  type ToolResult,
} from './tool.ts'
import { paymentTools } from './tools/payments.ts'
import { scenarioTools } from './tools/scenarios.ts'
import { callTools } from './tools/service-calls.ts'
import { webhookTools } from './tools/webhooks.ts'
import { worldTools } from './tools/world.ts'

export const TOOLS: readonly Tool[] = [
  ...worldTools,
  ...callTools,
  ...paymentTools,
  ...webhookTools,
  ...scenarioTools,
]

const INSTRUCTIONS =
  'A sandbox of an Indian payout API; it moves no money. Start with the tool look. Payments, KYC and webhooks happen on a clock that advance_clock moves. The resource payout-sandbox://contract/createTransaction has the call that pays; each other call has one, too.'

function readArguments({ name, input }: Tool, given: object): object {
  const result = parseSent(input, given, LIST_KNOWN_KEYS)
  if (result.success) return result.data
  const errors = fieldErrors(result.error, given)
  const lines = errors.map(({ field, message }) => `- ${field} ${message}`)
  throw new ToolError(
    `The arguments of ${name} are invalid:\n${lines.join('\n')}`,
    'correct them and call the tool again.',
  )
}

// An agent reads each result again with every later step.
const MAX_TEXT = 12_000

const contentOf = ({ text, next }: ToolResult) => ({
  content: [{ type: 'text' as const, text: `${shortText(text, MAX_TEXT)}\n\nNext: ${next}` }],
})

function findNamed<T>(
  what: string,
  items: readonly T[],
  nameOf: (item: T) => string,
  wanted: string,
): T {
  const found = items.find((item) => nameOf(item) === wanted)
  if (found) return found
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no ${what} ${JSON.stringify(wanted)}${didYouMean(wanted, items.map(nameOf)) || '.'} List the ${what}s that exist.`,
  )
}

function addTools(server: Server, tools: readonly Tool[], access: Access) {
  server.setRequestHandler('tools/list', () => ({
    tools: tools.map(({ name, title, description, readOnly = false, input }) => {
      // The version of the dialect is the default one of the protocol.
      const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: 'input' })
      return {
        name,
        title,
        description,
        inputSchema: inputSchema as { type: 'object' },
        annotations: { readOnlyHint: readOnly, openWorldHint: false },
      }
    }),
  }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
    const tool = findNamed('tool', tools, ({ name }) => name, params.name)
    try {
      const args = readArguments(tool, params.arguments ?? {})
      return contentOf(await tool.run(args, connect(access, signal)))
    } catch (error) {
      return { ...contentOf(explainError(error)), isError: true }
    }
  })
}

function addResources(server: Server, access: Access) {
  server.setRequestHandler('resources/list', () => ({
    resources: listResources().map(({ read: _, ...resource }) => resource),
  }))
  server.setRequestHandler(
    'resources/read',
    async ({ params: { uri } }, { mcpReq: { signal } }) => {
      const { mimeType, read } = findNamed('resource', listResources(), (one) => one.uri, uri)
      return { contents: [{ uri, mimeType, text: await read(connect(access, signal)) }] }
    },
  )
}

function addPrompts(server: Server) {
  server.setRequestHandler('prompts/list', () => ({
    prompts: PROMPTS.map(({ text: _, arguments: given, ...prompt }) => ({
      ...prompt,
      arguments: [...given],
    })),
  }))
  server.setRequestHandler('prompts/get', ({ params }) => {
    const found = findNamed('prompt', PROMPTS, ({ name }) => name, params.name)
    const given = params.arguments ?? {}
    const missing = found.arguments.find(({ name, required }) => required && !given[name])
    if (missing)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `The prompt ${found.name} needs the argument ${missing.name}: ${missing.description}`,
      )
    return {
      description: found.description,
      messages: [
        { role: 'user' as const, content: { type: 'text' as const, text: found.text(given) } },
      ],
    }
  })
}

/** Creates an MCP server for one sandbox; `more` are tools that only some servers have. */
export function createMcpServer(access: Access, more: readonly Tool[] = []): Server {
  const server = new Server(
    { name: 'payout-sandbox', version: VERSION },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions: INSTRUCTIONS,
      // Used only for forms that a server shows to the user, which this one does not do. The build leaves out the default one.
      jsonSchemaValidator: {
        getValidator: () => {
          throw new Error('this server asks the user nothing')
        },
      },
    },
  )
  addTools(server, [...TOOLS, ...more], access)
  addResources(server, access)
  addPrompts(server)
  return server
}
