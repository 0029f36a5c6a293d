// Loads the bundle, with the code cache of the build if it is from this version of Node: this makes the start faster.
'use strict'
const { existsSync, readFileSync } = require('node:fs')
const { dirname, join } = require('node:path')
const vm = require('node:vm')

const file = join(__dirname, 'payout-sandbox.cjs')
const cacheFile = `${file}.${process.version}-${process.arch}.cache`

function load() {
  if (!existsSync(cacheFile)) {
    // Node 22 and later have their own code cache.
    require('node:module').enableCompileCache?.()
    return require(file)
  }
  const script = new vm.Script(
    `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'utf8')}\n})`,
    {
      filename: file,
      cachedData: readFileSync(cacheFile),
      importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    },
  )
  const module_ = { exports: {} }
  script.runInThisContext()(module_.exports, require, module_, file, dirname(file))
  return module_.exports
}

module.exports = load()
