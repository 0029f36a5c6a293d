// npm run binary [-- --target PLATFORM | --all | --node FILE]: writes binary/payout-sandbox-VERSION-PLATFORM, one file with
// the program, its files and a Node, and a checksum, a bill of materials and the licences beside it. The exit code is 2 if a
// Node could not be installed.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { HERE, installNode, NoNode } from './nodes.mjs'
import { root, run, temporaryFolder } from './run.mjs'

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

const read = (path) => fs.readFileSync(resolve(root, path), 'utf8')
const digestOf = (path) => createHash('sha256').update(fs.readFileSync(path)).digest('hex')

/** The files of the package that the program reads, by path. */
const shippedFiles = () =>
  ['dist', 'fixtures', 'scenarios', 'clients']
    .flatMap((name) => fs.readdirSync(join(root, name), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .concat('package.json')
    .filter((path) => !NOT_INSIDE.test(path))
    .map((path) => [path, join(root, path)])

/** Writes what Node finds in itself: the main script and the files. `maker` is a Node of the same version that runs here. */
function makeBlob(folder, { maker, version, hasCache }) {
  const files = shippedFiles()
  if (hasCache) {
    const cache = join(folder, 'cache')
    run(maker, ['scripts/code-cache.cjs', cache])
    files.push([`dist/payout-sandbox.cjs.${version}-${process.arch}.cache`, cache])
  }
  const [index, config, output] = ['files.json', 'sea.json', 'blob'].map((name) =>
    join(folder, name),
  )
  const sizes = files.map(([path, file]) => [path, fs.statSync(file).size])
  fs.writeFileSync(index, JSON.stringify(Object.fromEntries(sizes)))
  const assets = Object.fromEntries([...files, ['files.json', index]])
  const main = join(root, 'scripts/binary-main.cjs')
  fs.writeFileSync(
    config,
    JSON.stringify({ main, output, disableExperimentalSEAWarning: true, assets }),
  )
  run(maker, ['--experimental-sea-config', config])
  return output
}

/** Writes a checksum, the bill of materials and the licences, with the Node that is inside. */
function writeBeside(made, name, { node, maker, version }) {
  fs.writeFileSync(`${made}.sha256`, `${digestOf(made)}  ${made.slice(dirname(made).length + 1)}\n`)
  const bill = JSON.parse(read('dist/sbom.cdx.json'))
  const ref = `node@${version.slice(1)}`
  bill.components.push({
    type: 'platform',
    'bom-ref': ref,
    name: 'node',
    version: version.slice(1),
    licenses: [{ license: { id: 'MIT' } }],
    cpe: `cpe:2.3:a:nodejs:node.js:${version.slice(1)}:*:*:*:*:*:*:*`,
    hashes: [{ alg: 'SHA-256', content: digestOf(node) }],
  })
  bill.dependencies[0].dependsOn.push(ref)
  fs.writeFileSync(join(root, `binary/${name}.cdx.json`), `${JSON.stringify(bill, null, 2)}\n`)
  const ofNode = ['LICENSE', '../LICENSE']
    .map((path) => join(dirname(maker), path))
    .find(fs.existsSync)
  if (ofNode === undefined)
    throw new Error(`--node takes the Node of an unpacked release: no LICENSE is near ${maker}`)
  const texts = ['LICENSE', 'dist/THIRD-PARTY-LICENSES.txt', ofNode].map(read)
  fs.writeFileSync(join(root, `binary/${name}.LICENSES.txt`), texts.join(`\n${'-'.repeat(80)}\n\n`))
}

function make(target, given) {
  const node = given ?? installNode(TARGETS[target], target)
  const maker = given ?? installNode(TARGETS[target])
  const version = run(maker, ['--version'])
  const { version: own } = JSON.parse(read('package.json'))
  const name = `payout-sandbox-${own}-${target}`
  const made = join(root, 'binary', target.startsWith('win') ? `${name}.exe` : name)
  const blob = makeBlob(temporaryFolder('binary'), { maker, version, hasCache: target === HERE })
  fs.mkdirSync(dirname(made), { recursive: true })
  fs.cpSync(node, made)
  fs.chmodSync(made, 0o755)
  const where = ['--sentinel-fuse', FUSE, '--macho-segment-name', 'NODE_SEA']
  const postject = 'test/slow/node_modules/postject/dist/cli.js'
  run(process.execPath, [postject, made, 'NODE_SEA_BLOB', blob, ...where])
  // macOS does not run what is not signed, and only macOS has the program that signs.
  if (process.platform === 'darwin') run('codesign', ['--force', '--sign', '-', made])
  writeBeside(made, name, { node, maker, version })
  console.log(
    `${relative(root, made)}: ${(fs.statSync(made).size / 1e6).toFixed(0)} MB, Node ${version}`,
  )
}

try {
  const { values } = parseArgs({
    options: { target: { type: 'string' }, all: { type: 'boolean' }, node: { type: 'string' } },
  })
  const targets = values.all ? Object.keys(TARGETS) : [values.target ?? HERE]
  const bad = targets.find((target) => !(values.node ? target === HERE : target in TARGETS))
  if (bad !== undefined)
    throw new Error(
      values.node
        ? `--node takes a Node that runs here, so the target must be ${HERE}, not ${bad}`
        : `there is no target ${bad}; choose one of ${Object.keys(TARGETS).join(', ')}`,
    )
  for (const target of targets) make(target, values.node && resolve(values.node))
} catch (error) {
  console.error(`npm run binary: ${error.message}`)
  // CI leaves this step out if the network has no Node for it.
  process.exitCode = error instanceof NoNode ? 2 : 1
}
