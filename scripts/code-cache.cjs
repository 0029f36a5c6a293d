// Starts the bundle once, sends a few calls, and stores V8's code cache: beside the bundle, or in the file of the argument.
'use strict'
const { readFileSync, writeFileSync } = require('node:fs')
const { dirname, join } = require('node:path')
const http = require('node:http')
const vm = require('node:vm')

const file = join(__dirname, '../dist/payout-sandbox.cjs')
const script = new vm.Script(
  `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'utf8')}\n})`,
  { filename: file, importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER },
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

async function warm() {
  const { main, startSandbox } = module_.exports
  const sandbox = await startSandbox({})
  await call(`${sandbox.url}/users`)
  const headers = { 'content-type': 'application/json' }
  await call(
    `${sandbox.url}/user`,
    { method: 'POST', headers },
    '{"email":"a@example.com","mobile":"9000000000"}',
  )
  await call(`${sandbox.adminUrl}/health`)
  await sandbox.close()
  // Also compiles the command line, including its help text.
  const write = process.stdout.write
  process.stdout.write = () => true
  await main(['--help'], {})
  process.stdout.write = write
  const beside = `${file}.${process.version}-${process.arch}.cache`
  writeFileSync(process.argv[2] ?? beside, script.createCachedData())
}

warm().catch((error) => {
  console.error(error)
  process.exit(1)
})
