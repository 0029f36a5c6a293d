// Writes the bill of materials (CycloneDX 1.5) and the licences of the third-party code in dist.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './run.mjs'

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
  const {
    bomFormat,
    specVersion,
    version: edition,
    metadata,
    ...all
  } = JSON.parse(run('npm', words))
  // For npm, all are packages for development; a time and a place in node_modules would differ by machine.
  const plain = ({ scope: _, properties: __, ...one }) => one
  const refs = new Set(packages.map((one) => one.ref))
  const found = new Map(all.components.map((one) => [one['bom-ref'], plain(one)]))
  found.set(ref, {
    'bom-ref': ref,
    type: 'library',
    name: 'swagger-ui-dist',
    version,
    licenses: [{ license: { id: 'Apache-2.0' } }],
    purl: `pkg:npm/${ref}`,
  })
  const dependencies = all.dependencies
    .filter((one) => refs.has(one.ref))
    .map((one) => ({ ref: one.ref, dependsOn: one.dependsOn.filter((on) => refs.has(on)) }))
  const used = new Set(dependencies.flatMap((one) => one.dependsOn))
  const component = plain(metadata.component)
  const direct = [...refs].filter((one) => !used.has(one))
  const bill = {
    ...{ bomFormat, specVersion, version: edition, metadata: { component } },
    components: [...refs].map((one) => found.get(one)),
    dependencies: [{ ref: component['bom-ref'], dependsOn: direct }, ...dependencies],
  }
  writeFileSync(join(dist, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`)

  const head = 'payout-sandbox contains code of these packages, under their licences.\n'
  const texts = packages.map((one) => `${one.ref} (${one.licence})\n\n${one.text()}\n`)
  const line = `\n${'-'.repeat(80)}\n`
  writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), [head, ...texts].join(line))
}
