// Validates the shipped scenarios and fixtures and stores them for a fast start. It is a separate process, so that the code
// cache does not contain code that only this script needs.
'use strict'
const { writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { readFixtures, readShipped } = require('../dist/payout-sandbox.cjs')

const root = join(__dirname, '..')
const store = (name, value) => writeFileSync(join(root, 'dist', name), JSON.stringify(value))

readFixtures(join(root, 'fixtures')).then((worlds) => store('fixtures.json', [...worlds]))
readShipped(join(root, 'scenarios')).then((shipped) => store('scenarios.json', shipped))
