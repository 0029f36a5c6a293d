import t from 'tap'
import type { Assumption } from '../../src/assumptions/assumption.ts'
import { ASSUMPTIONS } from '../../src/assumptions/readings.ts'
import { start } from '../helper.ts'
import { PROBES } from './probes.ts'

/** Every reading, with the example of those that have a number. */
const readingsOf = ({ readings, form }: Assumption) => [
  ...Object.keys(readings),
  ...(form ? [form.example] : []),
]

t.test('each assumption has a probe, and nothing else has one', async (t) => {
  t.strictSame(Object.keys(PROBES).sort(), ASSUMPTIONS.map(({ name }) => name).sort())
})

for (const one of ASSUMPTIONS) {
  t.test(`${one.name}: a caller can tell its readings apart`, async (t) => {
    t.ok(Object.hasOwn(one.readings, one.default), 'the default is a reading')
    t.ok(PROBES[one.name], 'probes.ts has a probe')
    const seen = new Map<string, string>()
    for (const reading of readingsOf(one)) {
      const sandbox = await start(t, { assume: { [one.name]: reading } })
      const found = JSON.stringify(await PROBES[one.name]!(sandbox, t))
      t.equal(seen.get(found), undefined, `${reading}: ${found}`)
      seen.set(found, reading)
      if (reading !== one.default) continue
      const plain = await start(t)
      t.equal(
        JSON.stringify(await PROBES[one.name]!(plain, t)),
        found,
        'the default without a choice',
      )
    }
  })
}
