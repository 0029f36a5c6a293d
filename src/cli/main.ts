import { BadOption } from '../config/options.ts'
import { VERSION } from '../config/version.ts'
import { gatherOptions, optionLines, parseArguments } from './options.ts'

const HELP = `payout-sandbox: a local sandbox of a payout and user-account service

  payout-sandbox [start] [options]   serve; Ctrl-C stops
  payout-sandbox health              ask the running server; exit 0 or 1
  payout-sandbox openapi             print the service's OpenAPI document

Options
${optionLines()}
  --json                             print one JSON line when ready
  --help, --version

Each option has a variable PAYOUT_SANDBOX_<OPTION> (also PORT) and a place in payout-sandbox.config.json.
Flag beats variable beats file.

Examples
  payout-sandbox --port 0 --memory --json
  payout-sandbox --clock 2026-01-01T00:00:00Z --random-seed 7
`

async function openapi(): Promise<number> {
  const [{ openApiDocument }, { OPERATIONS }] = await Promise.all([
    import('../http/openapi.ts'),
    import('../app.ts'),
  ])
  process.stdout.write(`${JSON.stringify(openApiDocument(OPERATIONS, '/v1'), null, 2)}\n`)
  return 0
}

/** Runs one command line and answers with the exit code (admin API: Exit codes). */
export async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  try {
    const { positionals, options: flags, json, help, version } = parseArguments(args)
    if (help) return print(HELP)
    if (version) return print(`${VERSION}\n`)
    const [command = 'start', ...rest] = positionals
    if (rest.length > 0) throw new BadOption(`${command} takes no ${JSON.stringify(rest[0])}`)
    const options = gatherOptions(flags, env)
    switch (command) {
      case 'start':
        return await (await import('./start.ts')).start(options, json)
      case 'health':
        return await (await import('./health.ts')).health(options)
      case 'openapi':
        return await openapi()
      default:
        throw new BadOption(
          `there is no command ${JSON.stringify(command)}; see payout-sandbox --help`,
        )
    }
  } catch (error) {
    const exitCode = error instanceof BadOption ? 2 : (error as { exitCode?: number }).exitCode
    const text =
      exitCode === undefined ? ((error as Error).stack ?? String(error)) : (error as Error).message
    process.stderr.write(`payout-sandbox: ${text}\n`)
    return exitCode ?? 1
  }
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}
