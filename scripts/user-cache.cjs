// V8's code cache among the caches of the user, for a version of Node that the build has none for. Node's own compile cache
// is not on Node 20, and is lost if a process is killed. Nothing depends on it: what fails here only makes the start slower.
'use strict'
const { subscribe, unsubscribe } = require('node:diagnostics_channel')
const fs = require('node:fs')
const { homedir } = require('node:os')
const { isAbsolute, join } = require('node:path')
const { crc32 } = require('node:zlib')

// An installation of each of a few versions, with a few versions of Node.
const MAX_FILES = 8
const CHECKSUM_BYTES = 4
const LISTENING = 'payout-sandbox.listening'
// Node publishes it for each response.
const RESPONDED = 'http.server.response.finish'

/** The folder of this program's caches; that of the user is where each system has it. */
function cacheFolder() {
  const { XDG_CACHE_HOME = '', LOCALAPPDATA } = process.env
  const caches =
    {
      win32: () => LOCALAPPDATA ?? join(homedir(), 'AppData/Local'),
      darwin: () => join(homedir(), 'Library/Caches'),
    }[process.platform] ??
    (() => (isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache')))
  const folder = join(caches(), 'payout-sandbox')
  // An empty HOME must not leave files in the working folder.
  if (!isAbsolute(folder)) throw new Error(`${folder} is not absolute`)
  return folder
}

/** Whether only this user can have written what a file or folder has: V8 runs it. */
const isPrivate = ({ uid, mode }) =>
  process.platform === 'win32' || (uid === process.getuid() && (mode & 0o022) === 0)

const checksum = (bytes) => {
  const sum = Buffer.alloc(CHECKSUM_BYTES)
  sum.writeUInt32BE(crc32(bytes))
  return sum
}

/** Reads a stored cache; `undefined` if it is damaged or others can have written it. */
function readCache(file) {
  const handle = fs.openSync(file, 'r')
  try {
    if (!isPrivate(fs.fstatSync(handle))) return undefined
    const bytes = fs.readFileSync(handle)
    const cache = bytes.subarray(CHECKSUM_BYTES)
    return checksum(cache).equals(bytes.subarray(0, CHECKSUM_BYTES)) ? cache : undefined
  } finally {
    fs.closeSync(handle)
  }
}

/** Removes the oldest files, so that the folder does not grow. */
function removeOldest(folder) {
  const newestFirst = fs
    .readdirSync(folder)
    .map((name) => join(folder, name))
    .map((path) => ({ path, at: fs.statSync(path).mtimeMs }))
    .sort((a, b) => b.at - a.at)
  for (const { path } of newestFirst.slice(MAX_FILES)) fs.rmSync(path)
}

function writeCache(folder, name, cache) {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (!isPrivate(fs.statSync(folder))) return
  // A start that reads while another writes sees the whole file or none.
  const temporary = join(folder, `${name}.${process.pid}`)
  fs.writeFileSync(temporary, Buffer.concat([checksum(cache), cache]), { mode: 0o600, flag: 'wx' })
  fs.renameSync(temporary, join(folder, name))
  removeOldest(folder)
}

/** Returns what `work` returns, or `undefined` if it fails. */
function attempt(work) {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** The cache of a bundle with these bytes. `NODE_DISABLE_COMPILE_CACHE` switches it off, like that of Node. */
exports.userCache = (source) => {
  const isOff = Boolean(process.env.NODE_DISABLE_COMPILE_CACHE)
  const build = crc32(source).toString(16).padStart(8, '0')
  const name = `${build}-${source.length}-${process.version}-${process.arch}`
  return {
    read: () => (isOff ? undefined : attempt(() => readCache(join(cacheFolder(), name)))),
    /**
     * Stores the cache when a sandbox listens, because then most functions are compiled, and the process may be killed soon;
     * and once more after its first response, because most starts wait for one.
     */
    storeWhenUsed(script) {
      if (isOff) return
      const storeAt = (channel, done) => {
        const store = () => {
          unsubscribe(channel, store)
          attempt(() => writeCache(cacheFolder(), name, script.createCachedData()))
          done?.()
        }
        subscribe(channel, store)
      }
      storeAt(LISTENING, () => storeAt(RESPONDED))
    },
  }
}
