// npm run orval: clients that orval makes of the three documents of the service compile under strict TypeScript. orval brings 127 MB
// and a script that reports its installation, so it is not a dependency: it is installed for this check, without scripts.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGES = ['orval@7.13.2', 'zod@3.25.76']
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const cwd = mkdtempSync(join(tmpdir(), 'payout-sandbox-orval-'))
process.on('exit', () => rmSync(cwd, { recursive: true, force: true }))

function run(command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`)
  return stdout
}

writeFileSync(join(cwd, 'package.json'), '{ "private": true, "type": "module" }')
run('npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', ...PACKAGES)
const forms = ['default', 'strict', 'contract']
const config = {}
for (const form of forms) {
  const flags = form === 'default' ? [] : [`--${form}`]
  const input = `${form}.json`
  writeFileSync(
    join(cwd, input),
    run(process.execPath, join(root, 'dist/bin.cjs'), 'openapi', ...flags),
  )
  for (const client of ['fetch', 'zod'])
    config[`${form}-${client}`] = { input, output: { client, target: `src/${form}-${client}.ts` } }
}
writeFileSync(join(cwd, 'orval.config.cjs'), `module.exports = ${JSON.stringify(config)}`)
run(process.execPath, 'node_modules/orval/dist/bin/orval.js', '--config', 'orval.config.cjs')
const strict = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2023']
const modules = ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2023,dom']
const files = Object.values(config).map(({ output }) => output.target)
run(
  process.execPath,
  join(root, 'node_modules/typescript-native/bin/tsc'),
  ...strict,
  ...modules,
  ...files,
)
console.log(`orval makes ${files.length} clients of ${forms.length} documents, and they compile.`)
