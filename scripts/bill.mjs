// Writes the bill of materials (CycloneDX 1.5) and the licences of the third-party code in dist.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder in node_modules, as the lock file names it, of each package with code in the output of esbuild. */
function foldersIn(metafiles) {
  const inputs = metafiles
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap((output) => Object.entries(output.inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
  const folder = /(?:^|\/)(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//
  return [...new Set(inputs.flatMap(([path]) => folder.exec(path)?.[1] ?? []))].sort()
}

/** The licence files of a package, or the licence of its package.json if it has no such file. */
function licenceText(folder) {
  const files = readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
  if (files.length > 0)
    return files.map((name) => readFileSync(join(folder, name), 'utf8').trim()).join('\n\n')
  const { license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return `${license}, by ${author?.name ?? author}. The package contains no licence text; the text of MIT is in LICENSE.`
}

/** Writes both files into `dist`: the packages in the output of esbuild, and Swagger UI, whose built files are copied. */
export function writeBill({ root, dist, metafiles }) {
  const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))
  const lock = read('package-lock.json').packages
  const nameOf = (folder) => folder.replace(/.*node_modules\//, '')
  const packages = foldersIn(metafiles).map((folder) => ({
    ref: `${nameOf(folder)}@${lock[folder].version}`,
    licence: lock[folder].license,
    text: () => licenceText(join(root, folder)),
  }))
  // @fastify/swagger-ui names the origin of its files, but does not contain their licence.
  const { devDependencies } = read('node_modules/@fastify/swagger-ui/package.json')
  const version = devDependencies['swagger-ui-dist']
  const ref = `swagger-ui-dist@${version}`
  packages.push({
    ref,
    licence: 'Apache-2.0',
    text: () => readFileSync(join(root, `scripts/licences/swagger-ui-${version}.txt`), 'utf8'),
  })

  const words = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--loglevel=error']
  const options = {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    shell: process.platform === 'win32',
  }
  const npm = spawnSync('npm', words, options)
  if (npm.status !== 0) throw new Error(`npm sbom failed: ${npm.error?.message ?? npm.stderr}`)
  const all = JSON.parse(npm.stdout)
  const refs = new Set(packages.map((one) => one.ref))
  const components = all.components
    .filter(
      (one, i, list) =>
        refs.has(one['bom-ref']) &&
        list.findIndex((other) => other['bom-ref'] === one['bom-ref']) === i,
    )
    .map(({ name, version, licenses, purl, hashes, 'bom-ref': ref }) => ({
      type: 'library',
      'bom-ref': ref,
      name,
      version,
      licenses,
      purl,
      hashes,
    }))
  components.push({
    type: 'library',
    'bom-ref': ref,
    name: 'swagger-ui-dist',
    version,
    licenses: [{ license: { id: 'Apache-2.0' } }],
    purl: `pkg:npm/${ref}`,
  })
  const dependencies = all.dependencies
    .filter((one) => refs.has(one.ref))
    .map((one) => ({ ref: one.ref, dependsOn: one.dependsOn.filter((on) => refs.has(on)) }))
  const used = new Set(dependencies.flatMap((one) => one.dependsOn))
  const own = read('package.json')
  const self = `${own.name}@${own.version}`
  const component = {
    type: 'application',
    'bom-ref': self,
    name: own.name,
    version: own.version,
    licenses: [{ license: { id: own.license } }],
    purl: `pkg:npm/${self}`,
  }
  const direct = [...refs].filter((one) => !used.has(one))
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component },
    components,
    dependencies: [{ ref: self, dependsOn: direct }, ...dependencies],
  }
  writeFileSync(join(dist, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`)

  const head = 'payout-sandbox contains code of these packages, under their licences.\n'
  const texts = packages.map((one) => `${one.ref} (${one.licence})\n\n${one.text()}\n`)
  const line = `\n${'-'.repeat(80)}\n`
  writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), [head, ...texts].join(line))
}
