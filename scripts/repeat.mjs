// npm run repeat: checks that 5,000 mixed calls give the same bytes in two runs and on each supported version of Node.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { play } from '../test/repeat/play.ts'
import { startReceiver } from '../test/repeat/receiver.ts'
import { installNode, SUPPORTED_NODES } from './nodes.mjs'

const CALLS = 5_000
const SEED = 11
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BIN = join(ROOT, 'dist/bin.cjs')
const START = '--memory --port=0 --clock=frozen --random-seed=7 --webhook-time=client'.split(' ')

// Variables for this program must not reach the programs that it starts.
const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...inherited } = process.env
const env = Object.fromEntries(
  Object.entries(inherited).filter(([name]) => !/^(PORT$|PAYOUT_SANDBOX_)/.test(name)),
)

const folder = mkdtempSync(join(tmpdir(), 'payout-sandbox-repeat-'))
const majorOf = (version) => version.replace(/^v/, '').split('.', 1)[0]

/** Starts the built program. Returns the child process and its origin. */
async function start(node) {
  const args = [BIN, 'start', '--json', '--log-level=error', ...START]
  const child = spawn(node, args, { env, cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  const line = await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve)
    child.once('exit', (code) => reject(new Error(`${node} ended with ${code}`)))
  })
  return { child, origin: new URL(JSON.parse(line).url).origin }
}

/** Runs all calls and writes their bytes to a file. Returns the digest and counts. */
async function run(node, file, receiver) {
  const { child, origin } = await start(node)
  const hash = createHash('sha256')
  const out = createWriteStream(file)
  let bytes = 0
  let webhooks = 0
  try {
    for await (const { line } of play(origin, receiver, { calls: CALLS, seed: SEED })) {
      // Line feeds separate the calls, so those within a call are escaped.
      const text = line.replaceAll('\n', '\\n')
      hash.update(`${text}\n`)
      out.write(`${text}\n`)
      bytes += Buffer.byteLength(text)
      webhooks += line.split('\nPOST /webhook ').length - 1
    }
  } finally {
    child.kill()
    out.end()
    await finished(out)
  }
  return { digest: hash.digest('hex'), bytes, webhooks }
}

/** Describes the first call that differs between two runs, with the text around the first difference. */
function firstDifference(one, other) {
  const [a, b] = [one, other].map((file) => readFileSync(file, 'utf8').split('\n'))
  const line = a.findIndex((text, i) => text !== b[i])
  if (b[line] === undefined) return 'one run is longer'
  const at = [...a[line]].findIndex((character, i) => character !== b[line][i])
  const around = (text) => `…${text.slice(Math.max(0, at - 120), at + 80)}…`
  return `call ${a[line].split(' [', 1)[0]}:\n  ${around(a[line])}\n  ${around(b[line])}`
}

async function main() {
  const own = majorOf(process.version)
  const others = SUPPORTED_NODES.filter((version) => majorOf(version) !== own)
  const runs = [
    [`Node ${own}`, process.execPath],
    [`Node ${own} again`, process.execPath],
    ...others.map((version) => [`Node ${majorOf(version)}`, installNode(version, ROOT)]),
  ]
  const receiver = await startReceiver()
  let first
  let equal = true
  for (const [i, [name, node]] of runs.entries()) {
    const file = join(folder, `run-${i}.txt`)
    const { digest, bytes, webhooks } = await run(node, file, receiver)
    console.log(
      `${name.padEnd(14)} ${CALLS} calls, ${webhooks} webhooks, ${bytes} bytes, SHA-256 ${digest}`,
    )
    first ??= { digest, file }
    if (digest === first.digest) continue
    equal = false
    console.log(`${name} differs at ${firstDifference(first.file, file)}`)
  }
  receiver.close()
  console.log(equal ? 'All runs are equal, byte for byte.' : 'The runs differ.')
  return equal ? 0 : 1
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(`repeat: ${error.message}`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
