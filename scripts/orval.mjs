// npm run orval: clients that orval makes of the three documents of the service compile under strict TypeScript. orval brings 127 MB
// and a script that reports its installation, so it is not a dependency: it is installed for this check, without scripts.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installPackages, root, run, temporaryFolder } from './run.mjs'

const PACKAGES = ['orval@7.13.2', 'zod@3.25.76']
const cwd = temporaryFolder('orval')
const node = (...args) => run(process.execPath, args, { cwd })

installPackages(cwd, PACKAGES)
const forms = ['default', 'strict', 'contract']
const config = {}
for (const form of forms) {
  const flags = form === 'default' ? [] : [`--${form}`]
  const input = `${form}.json`
  writeFileSync(join(cwd, input), node(join(root, 'dist/bin.cjs'), 'openapi', ...flags))
  for (const client of ['fetch', 'zod'])
    config[`${form}-${client}`] = { input, output: { client, target: `src/${form}-${client}.ts` } }
}
writeFileSync(join(cwd, 'orval.config.cjs'), `module.exports = ${JSON.stringify(config)}`)
node('node_modules/orval/dist/bin/orval.js', '--config', 'orval.config.cjs')
const strict = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2023']
const modules = ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2023,dom']
const files = Object.values(config).map(({ output }) => output.target)
node(join(root, 'node_modules/typescript-native/bin/tsc'), ...strict, ...modules, ...files)
console.log(`orval makes ${files.length} clients of ${forms.length} documents, and they compile.`)
