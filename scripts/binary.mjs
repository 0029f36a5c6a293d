// npm run binary [-- --target PLATFORM | --all | --node FILE]: writes binary/payout-sandbox-VERSION-PLATFORM, one file with
// the program, its files and a Node, and a checksum and a bill of materials beside it. Needs `npm run build` first. The exit
// code is 2 if Node or a tool could not be installed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { HERE, installNode, NoNode } from './binary/node.mjs'
import { installTools } from './tools.mjs'

/** The Node in each executable. npm has no later Node 24 for macOS. */
const TARGETS = {
  'linux-x64': '24.21.0',
  'linux-arm64': '24.21.0',
  'darwin-arm64': '24.0.0',
  'win-x64': '24.21.0',
}
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
// What is in dist for Node and for a person, and not for the program.
const NOT_INSIDE =
  /^dist\/(?:types|bin\.cjs|index\.js|sbom|.*\.LEGAL\.txt|.*\.cache$)|^clients\/(?!\w+\/\w+\.(?:py|java|go|php)$)/

const root = fileURLToPath(new URL('..', import.meta.url))
const output = join(root, 'binary')
const POSTJECT = join(root, 'scripts/tools/node_modules/postject/dist/cli.js')
const PACKAGE = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const digestOf = (path) => createHash('sha256').update(readFileSync(path)).digest('hex')

class Problem extends Error {}

function run(program, ...args) {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0)
    throw new Problem(`${program} ${args.join(' ')} failed: ${error?.message ?? stderr}`)
  return stdout.trim()
}

/** The files of the package that the program reads, by path. */
function shippedFiles() {
  const inFolder = (folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replaceAll('\\', '/'))
  return ['package.json', ...['dist', 'fixtures', 'scenarios', 'clients'].flatMap(inFolder)]
    .filter((path) => !NOT_INSIDE.test(path))
    .map((path) => [path, join(root, path)])
}

/** Writes what Node finds in itself: the main script and the files. `maker` is a Node of the same version that runs here. */
function makeBlob({ maker, version, hasCache, folder }) {
  const files = shippedFiles()
  if (hasCache) {
    const cache = join(folder, 'cache')
    run(maker, 'scripts/code-cache.cjs', cache)
    files.push([`dist/payout-sandbox.cjs.v${version}-${process.arch}.cache`, cache])
  }
  const index = join(folder, 'files.json')
  const sizes = files.map(([path, file]) => [path, statSync(file).size])
  writeFileSync(index, JSON.stringify(Object.fromEntries(sizes)))
  const blob = join(folder, 'blob')
  const config = join(folder, 'sea.json')
  writeFileSync(
    config,
    JSON.stringify({
      main: join(root, 'scripts/binary/main.cjs'),
      output: blob,
      disableExperimentalSEAWarning: true,
      assets: Object.fromEntries([...files, ['files.json', index]]),
    }),
  )
  run(maker, '--experimental-sea-config', config)
  return blob
}

/** The bill of materials of the package, with the Node that is inside too. */
function billOf(version, node) {
  const bill = JSON.parse(readFileSync(join(root, 'dist/sbom.cdx.json'), 'utf8'))
  bill.components.push({
    type: 'platform',
    'bom-ref': `node@${version}`,
    name: 'node',
    version,
    licenses: [{ license: { id: 'MIT' } }],
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    hashes: [{ alg: 'SHA-256', content: digestOf(node) }],
  })
  bill.dependencies[0].dependsOn.push(`node@${version}`)
  return `${JSON.stringify(bill, null, 2)}\n`
}

/** The licences of all that is inside; a release of Node has its own beside it. */
function licencesOf(maker) {
  const ofNode = ['LICENSE', '../LICENSE']
    .map((path) => join(dirname(maker), path))
    .find((file) => existsSync(file))
  if (ofNode === undefined)
    throw new Problem(`--node takes the Node of an unpacked release: no LICENSE is near ${maker}`)
  const files = [join(root, 'LICENSE'), join(root, 'dist/THIRD-PARTY-LICENSES.txt'), ofNode]
  return files.map((file) => readFileSync(file, 'utf8')).join(`\n${'-'.repeat(80)}\n\n`)
}

/** The Node of a target, and one of the same version that runs here: it makes what goes inside. */
function nodesOf(target, given) {
  if (given !== undefined) return { node: given, maker: given }
  if (!(HERE in TARGETS))
    throw new Problem(`scripts/binary.mjs has no Node for ${HERE}; give one with --node FILE`)
  const version = TARGETS[target]
  return { node: installNode(version, root, target), maker: installNode(version, root) }
}

function make(target, given) {
  const { node, maker } = nodesOf(target, given)
  const version = run(maker, '--version').slice(1)
  const name = `payout-sandbox-${PACKAGE.version}-${target}`
  const file = target.startsWith('win') ? `${name}.exe` : name
  const made = join(output, file)
  const folder = mkdtempSync(join(tmpdir(), 'payout-sandbox-binary-'))
  try {
    const blob = makeBlob({ maker, version, hasCache: target === HERE, folder })
    mkdirSync(output, { recursive: true })
    cpSync(node, made)
    chmodSync(made, 0o755)
    const data = ['NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE]
    run(process.execPath, POSTJECT, made, ...data, '--macho-segment-name', 'NODE_SEA')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  // macOS does not run what is not signed, and only macOS has the program that signs.
  if (process.platform === 'darwin') run('codesign', '--force', '--sign', '-', made)
  writeFileSync(`${made}.sha256`, `${digestOf(made)}  ${file}\n`)
  writeFileSync(join(output, `${name}.cdx.json`), billOf(version, node))
  writeFileSync(join(output, `${name}.LICENSES.txt`), licencesOf(maker))
  const megabytes = (statSync(made).size / 1e6).toFixed(0)
  console.log(`binary/${file}: ${megabytes} MB, Node ${version}`)
}

try {
  const { values } = parseArgs({
    options: { target: { type: 'string' }, all: { type: 'boolean' }, node: { type: 'string' } },
  })
  const targets = values.all ? Object.keys(TARGETS) : [values.target ?? HERE]
  for (const target of targets)
    if (!(target in TARGETS) && values.node === undefined)
      throw new Problem(
        `there is no target ${target}; choose one of ${Object.keys(TARGETS).join(', ')}`,
      )
  if (values.node !== undefined && targets.join() !== HERE)
    throw new Problem(
      `--node takes a Node that runs here, so the target must be ${HERE}, not ${targets}`,
    )
  const failure = await installTools('scripts/tools')
  if (failure !== undefined) throw new NoNode(failure)
  for (const target of targets) make(target, values.node && resolve(values.node))
} catch (error) {
  if (!(error instanceof Problem || error instanceof NoNode)) throw error
  console.error(`npm run binary: ${error.message}`)
  // CI leaves this step out if the network has no Node for it.
  process.exitCode = error instanceof NoNode ? 2 : 1
}
