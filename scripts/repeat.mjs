// npm run repeat: checks that 5,000 mixed calls give the same bytes in two runs and on each supported version of Node.
import { createHash } from 'node:crypto'
import { createWriteStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { freePort, startServer, stop } from '../bench/lib.mjs'
import { play } from '../test/slow/repeat/play.ts'
import { startReceiver } from '../test/slow/repeat/receiver.ts'
import { installNode, SUPPORTED_NODES } from './nodes.mjs'
import { root, temporaryFolder } from './run.mjs'

const CALLS = 5_000
const SEED = 11
const BIN = join(root, 'dist/bin.cjs')
const START =
  'start --log-level=error --memory --clock=frozen --random-seed=7 --webhook-time=client'

const folder = temporaryFolder('repeat')
const majorOf = (version) => version.replace(/^v/, '').split('.', 1)[0]

/** Runs all calls and writes their bytes to a file. Returns the digest and counts. */
async function run(node, file, receiver) {
  const port = await freePort()
  const words = [BIN, ...START.split(' '), '--port', port]
  const server = await startServer(words, port, '/__admin/health', { node, cwd: folder })
  const hash = createHash('sha256')
  const out = createWriteStream(file)
  let bytes = 0
  let webhooks = 0
  try {
    for await (const { line } of play(`http://127.0.0.1:${port}`, receiver, {
      calls: CALLS,
      seed: SEED,
    })) {
      // Line feeds separate the calls, so those within a call are escaped.
      const text = line.replaceAll('\n', '\\n')
      hash.update(`${text}\n`)
      out.write(`${text}\n`)
      bytes += Buffer.byteLength(text)
      webhooks += line.split('\nPOST /webhook ').length - 1
    }
  } finally {
    await stop(server)
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

const own = majorOf(process.version)
const others = SUPPORTED_NODES.filter((version) => majorOf(version) !== own)
const runs = [
  [`Node ${own}`, process.execPath],
  [`Node ${own} again`, process.execPath],
  ...others.map((version) => [`Node ${majorOf(version)}`, installNode(version)]),
]
const receiver = await startReceiver()
let first
for (const [i, [name, node]] of runs.entries()) {
  const file = join(folder, `run-${i}.txt`)
  const { digest, bytes, webhooks } = await run(node, file, receiver)
  console.log(
    `${name.padEnd(14)} ${CALLS} calls, ${webhooks} webhooks, ${bytes} bytes, SHA-256 ${digest}`,
  )
  first ??= { digest, file }
  if (digest === first.digest) continue
  process.exitCode = 1
  console.log(`${name} differs at ${firstDifference(first.file, file)}`)
}
receiver.close()
console.log(process.exitCode ? 'The runs differ.' : 'All runs are equal, byte for byte.')
