// The main script of the single executable. The files of the package are inside the executable, and the program reads them
// as files below the path of the executable, where no file system can have any.
'use strict'
const fs = require('node:fs')
const { basename, dirname, isAbsolute, join, resolve, sep } = require('node:path')
const sea = require('node:sea')
const vm = require('node:vm')

const ROOT = process.execPath
const INDEX = 'files.json'

/** The size of each file, by path; a folder has none. */
const entries = new Map()
for (const [asset, size] of Object.entries(JSON.parse(sea.getAsset(INDEX, 'utf8')))) {
  const file = join(ROOT, asset)
  entries.set(file, size)
  for (let at = dirname(file); at !== ROOT; at = dirname(at)) entries.set(at, undefined)
}

/** The path of a file or folder in the executable; `undefined` for every other path. */
function inside(path) {
  if (typeof path !== 'string') return undefined
  const full = resolve(path)
  return entries.has(full) ? full : undefined
}

const assetOf = (file) => file.slice(ROOT.length + 1).replaceAll(sep, '/')

function statOf(path, { bigint } = {}) {
  const size = entries.get(path)
  const number = bigint ? BigInt : Number
  return {
    isFile: () => size !== undefined,
    isDirectory: () => size === undefined,
    isSymbolicLink: () => false,
    size: number(size ?? 0),
    ino: number(0),
    mtimeNs: number(0),
  }
}

/** What the program calls for its own files. A call that is not here fails with ENOTDIR. */
const CALLS = {
  existsSync: () => true,
  realpathSync: (path) => path,
  statSync: statOf,
  lstatSync: statOf,
  readFileSync(path, options) {
    const encoding = typeof options === 'string' ? options : options?.encoding
    const asset = assetOf(path)
    return encoding ? sea.getAsset(asset, encoding) : Buffer.from(sea.getAsset(asset))
  },
  readdirSync(folder, options) {
    const found = [...entries.keys()].filter((path) => dirname(path) === folder)
    if (!options?.withFileTypes) return found.map((path) => basename(path))
    return found.map((path) => ({ name: basename(path), parentPath: folder, ...statOf(path) }))
  },
}
for (const [name, call] of Object.entries(CALLS)) {
  const real = fs[name]
  fs[name] = (path, ...rest) => {
    const own = inside(path)
    return own === undefined ? real(path, ...rest) : call(own, ...rest)
  }
}
const { readFile } = fs.promises
fs.promises.readFile = async (path, ...rest) =>
  inside(path) === undefined ? readFile(path, ...rest) : fs.readFileSync(path, ...rest)

const loaded = new Map()

/** Runs a CommonJS file of the executable once, and returns what it exports. */
function load(file) {
  if (loaded.has(file)) return loaded.get(file).exports
  const parameters = ['exports', 'require', 'module', '__filename', '__dirname']
  const run = vm.compileFunction(fs.readFileSync(file, 'utf8'), parameters, { filename: file })
  const module_ = { exports: {} }
  loaded.set(file, module_)
  const requireFrom = (name) =>
    name.startsWith('.') || isAbsolute(name) ? load(resolve(dirname(file), name)) : require(name)
  run(module_.exports, requireFrom, module_, file, dirname(file))
  return module_.exports
}

load(join(ROOT, 'dist/loader.cjs'))
  .main(process.argv.slice(2), process.env)
  .then((code) => {
    process.exitCode = code
  })
