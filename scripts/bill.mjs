// Writes the bill of materials (CycloneDX 1.5) and the licences of the third-party code in dist.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The package folder in node_modules, as the lock file names it, of a file that esbuild read; `undefined` for our own files. */
const folderOf = (path) =>
  /(?:^|\/)(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]

/** The folders of all packages with code in the output of esbuild. */
function foldersIn(metafiles) {
  const inputs = metafiles
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap((output) => Object.entries(output.inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
  return [...new Set(inputs.flatMap(([path]) => folderOf(path) ?? []))].sort()
}

const nameOf = (folder) =>
  folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
const purlOf = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`

function componentOf(name, { version, license, integrity }) {
  const [algorithm, digest] = integrity?.split('-') ?? []
  return {
    type: 'library',
    'bom-ref': `${name}@${version}`,
    name,
    version,
    licenses: [{ license: { id: license } }],
    purl: purlOf(name, version),
    ...(algorithm === 'sha512' && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    }),
  }
}

/** Resolves a package name from the folder `from`, as Node does: in its own node_modules, then in the parent folders. */
function resolve(folders, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const found = `${at}${at && '/'}node_modules/${name}`
    if (folders.includes(found)) return found
    if (at === '') return undefined
  }
}

/** The names of all dependencies of a package, including peer dependencies. */
const dependencyNames = ({ dependencies, peerDependencies, peerDependenciesMeta }) =>
  Object.keys({ ...dependencies, ...peerDependencies, ...peerDependenciesMeta })

/** The licence files of a package, or the licence of its package.json if it has no such file. */
function licenceText(folder) {
  const files = readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
  if (files.length > 0)
    return files.map((name) => readFileSync(join(folder, name), 'utf8').trim()).join('\n\n')
  const { license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const holder = typeof author === 'object' ? author.name : author
  return `${license}, by ${holder}. The package contains no licence text; the text of MIT is in LICENSE.`
}

/**
 * Writes `sbom.cdx.json` and `THIRD-PARTY-LICENSES.txt` into `dist`: the packages in the output of esbuild, and Swagger UI,
 * whose built files are copied. The output depends only on the lock file.
 */
export function writeBill({ root, dist, metafiles }) {
  const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))
  const own = read('package.json')
  const lock = read('package-lock.json').packages
  const folders = foldersIn(metafiles)
  const refOf = (folder) => `${nameOf(folder)}@${lock[folder].version}`

  // The package with Swagger UI's files names their origin, but does not contain their licence.
  const swaggerUi = read('node_modules/@fastify/swagger-ui/package.json').devDependencies[
    'swagger-ui-dist'
  ]
  const swaggerLicence = join(root, `scripts/licences/swagger-ui-${swaggerUi}.txt`)
  if (!existsSync(swaggerLicence))
    throw new Error(
      `${swaggerLicence} is missing: LICENSE, NOTICE and swagger-ui-bundle.js.LICENSE.txt of swagger-ui-dist ${swaggerUi}`,
    )
  const copied = componentOf('swagger-ui-dist', { version: swaggerUi, license: 'Apache-2.0' })

  const self = { ...componentOf(own.name, own), type: 'application' }
  const components = [...folders.map((folder) => componentOf(nameOf(folder), lock[folder])), copied]
  const dependencies = folders.map((folder) => ({
    ref: refOf(folder),
    dependsOn: dependencyNames(lock[folder])
      .flatMap((name) => resolve(folders, folder, name) ?? [])
      .map(refOf),
  }))
  const used = new Set(dependencies.flatMap(({ dependsOn }) => dependsOn))
  const direct = components.map((one) => one['bom-ref']).filter((ref) => !used.has(ref))
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: self },
    components,
    dependencies: [{ ref: self['bom-ref'], dependsOn: direct }, ...dependencies],
  }
  writeFileSync(join(dist, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`)

  const line = `\n${'-'.repeat(80)}\n`
  const texts = folders.map(
    (folder) =>
      `${refOf(folder)} (${lock[folder].license})\n\n${licenceText(join(root, folder))}\n`,
  )
  const head = `payout-sandbox contains code of these packages, under their licences.\n`
  writeFileSync(
    join(dist, 'THIRD-PARTY-LICENSES.txt'),
    [
      head,
      ...texts,
      `${copied['bom-ref']} (Apache-2.0)\n\n${readFileSync(swaggerLicence, 'utf8')}`,
    ].join(line),
  )
}
