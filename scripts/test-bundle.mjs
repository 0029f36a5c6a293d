// Bundles test files, so that Node starts each without transforming or looking for anything.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { SourceMap } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const folders = join(root, 'test/.bundle')

/** A module knows itself by the place of its source, not by that of the bundle. */
const places = {
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: /\.(ts|mjs|js)$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      if (!text.includes('import.meta.')) return undefined
      const url = JSON.stringify(pathToFileURL(path).href)
      const folder = JSON.stringify(dirname(path))
      return {
        // In the first line, so that the others keep their numbers.
        contents: `const sourceUrl = ${url}, sourceFolder = ${folder};${text}`,
        loader: path.endsWith('.ts') ? 'ts' : 'js',
      }
    })
  },
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Each run has a folder of its own; that of a run that was killed is removed by the next. */
function ownFolder() {
  mkdirSync(folders, { recursive: true })
  for (const name of readdirSync(folders))
    if (!isAlive(Number(name))) rmSync(join(folders, name), { recursive: true, force: true })
  const folder = join(folders, String(process.pid))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

// A stack shows the test and the code under test, not the test library.
const OF_TAP = String.raw`(?:node_modules/(?:@tapjs|tap)/|scripts/test-shared\.mjs)`
const PLACE_OF_TAP = new RegExp(` at \\S*${OF_TAP}\\S*$`, 'gm')
const FRAME_OF_TAP = new RegExp(`^.*${OF_TAP}.*\n`, 'gm')

/** Reads a text's places in the bundle as places in the sources. */
function sourceReader(folder) {
  const maps = new Map()
  const mapOf = (file) => {
    if (!maps.has(file)) {
      const map = `${file}.map`
      maps.set(
        file,
        existsSync(map) ? new SourceMap(JSON.parse(readFileSync(map, 'utf8'))) : undefined,
      )
    }
    return maps.get(file)
  }
  const from = relative(root, folder).replaceAll('.', '\\.')
  const place = new RegExp(`(?:file://)?[^\\s()'"]*?(${from}/[^\\s:()]+\\.mjs):(\\d+):(\\d+)`, 'g')
  const readPlaces = (text) =>
    text.replaceAll(place, (found, name, line, column) => {
      const file = join(root, name)
      const entry = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1)
      if (entry?.originalSource === undefined) return found
      const source = relative(root, resolve(dirname(file), entry.originalSource))
      return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
    })
  return (text) => readPlaces(text).replaceAll(PLACE_OF_TAP, '').replaceAll(FRAME_OF_TAP, '')
}

/**
 * Bundles files, which are named from the root of the package. Returns the folder, the file that each became, the sources
 * that went into each, and a function that reads places in the bundle as places in the sources.
 */
export async function bundleTests(names) {
  const folder = ownFolder()
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: names.map((name) => join(root, name)),
    outdir: folder,
    outbase: root,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    // These are large and used by few files.
    external: ['esbuild', 'playwright-core', 'axe-core', 'payout-sandbox'],
    define: { 'import.meta.url': 'sourceUrl', 'import.meta.dirname': 'sourceFolder' },
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    // Read only where a test fails.
    sourcemap: 'external',
    metafile: true,
    alias: { 'async-hook-domain': join(root, 'scripts/test-domain.mjs') },
    plugins: [places],
    logLevel: 'warning',
  })

  function sourcesOf(name) {
    const found = new Set([name])
    for (const one of found)
      for (const { path } of metafile.inputs[one]?.imports ?? []) found.add(path)
    return found
  }
  return {
    folder,
    fileOf: (name) => join(folder, name.replace(/\.ts$/, '.mjs')),
    sourcesOf,
    readPlaces: sourceReader(folder),
  }
}
