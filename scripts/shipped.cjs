// Reads and checks the shipped scenarios and fixtures, and keeps what starts need of them. A process of its own: what
// only this compiles is not in the code cache.
'use strict'
const { writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { readFixtures, readShipped } = require('../dist/payout-sandbox.cjs')

const root = join(__dirname, '..')
const keep = (name, value) => writeFileSync(join(root, 'dist', name), JSON.stringify(value))

keep('fixtures.json', [...readFixtures(join(root, 'fixtures'))])
readShipped(join(root, 'scenarios')).then((shipped) => keep('scenarios.json', shipped))
