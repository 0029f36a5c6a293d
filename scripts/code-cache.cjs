// Starts the server of the bundle once, on a new data file as most users do, sends a few calls, and stores V8's code cache:
// beside the bundle, or in the file of the argument. What most starts do not need would make each of them slower: the admin
// API besides its health, and help.
'use strict'
const { mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { dirname, join } = require('node:path')
const http = require('node:http')
const vm = require('node:vm')

const name = 'payout-sandbox.cjs'
const file = join(__dirname, '../dist', name)
const script = new vm.Script(
  `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'latin1')}\n})`,
  // A literal and no path: the cache contains it, with the text that it is a part of.
  { filename: name, importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER },
)
const module_ = { exports: {} }
script.runInThisContext()(module_.exports, require, module_, file, dirname(file))

const call = (url, options, body) =>
  new Promise((resolve, reject) => {
    const request = http.request(url, { agent: false, ...options }, (response) => {
      response.resume().on('end', resolve)
    })
    request.on('error', reject).end(body)
  })

const { main } = module_.exports
const { write } = process.stdout

/** Runs a command line; resolves with the first text that it prints. */
const firstText = (args) =>
  new Promise((resolve, reject) => {
    process.stdout.write = (text) => {
      resolve(text)
      return true
    }
    main(args, {}).catch(reject)
  }).finally(() => {
    process.stdout.write = write
  })

async function warm(data) {
  const ready = await firstText(['start', '--data', data, '--port', '0', '--json'])
  const { url, admin_url: adminUrl } = JSON.parse(ready)
  await call(`${url}/users`)
  const headers = { 'content-type': 'application/json' }
  await call(
    `${url}/user`,
    { method: 'POST', headers },
    '{"email":"a@example.com","mobile":"9000000000"}',
  )
  await call(`${adminUrl}/health`)
  const beside = `${file}.${process.version}-${process.arch}.cache`
  writeFileSync(process.argv[2] ?? beside, script.createCachedData())
}

const folder = mkdtempSync(join(tmpdir(), 'payout-sandbox-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
warm(join(folder, 'db.json')).then(
  // The server closes, which would otherwise keep the process alive.
  () => process.emit('SIGTERM'),
  (error) => {
    console.error(error)
    process.exit(1)
  },
)
