import t from 'tap'
import { rupeesText, typedAmount, wallTime, zoneName } from '../../../src/tools/console/format.ts'

t.test('rupees have the groups that people in India read', async (t) => {
  for (const [amount, text] of [
    ['1', '₹1.00'],
    ['12.5', '₹12.50'],
    ['999.99', '₹999.99'],
    ['1000.00', '₹1,000.00'],
    ['98000.00', '₹98,000.00'],
    ['1245000.00', '₹12,45,000.00'],
    ['9999999999.99', '₹9,99,99,99,999.99'],
    // A call can send any value as its amount.
    ['1e3', '1e3'],
    ['-5.00', '-5.00'],
    ['ten', 'ten'],
    ['1.234', '1.234'],
  ] as const)
    t.equal(rupeesText(amount), text)
  t.equal(rupeesText('1234567.00', 'USD'), '12,34,567.00 USD')
})

t.test('a time is in UTC, or moved by the offset of the browser', async (t) => {
  const at = '2026-03-31T20:15:30.250Z'
  t.same(wallTime(at, 'utc', 330), { day: '2026-03-31', time: '20:15:30', exact: '20:15:30.250' })
  t.match(wallTime(at, 'local', 330), { day: '2026-04-01', time: '01:45:30' })
  t.match(wallTime(at, 'local', -300), { day: '2026-03-31', time: '15:15:30' })
})

t.test('a zone has its short name', async (t) => {
  const at = '2026-03-31T20:15:30.250Z'
  t.equal(zoneName(at, 'utc', 'Asia/Kolkata'), 'UTC')
  t.equal(zoneName(at, 'local', 'Asia/Kolkata'), 'IST')
  t.equal(zoneName(at, 'local', 'Europe/Berlin'), 'GMT+2')
  t.equal(zoneName('2026-01-01T00:00:00.000Z', 'local', 'Europe/Berlin'), 'GMT+1')
})

t.test('an amount is typed plainly or as the page shows it', async (t) => {
  for (const [typed, amount] of [
    ['100', 100],
    [' 250.91 ', 250.91],
    ['1,00,000', 100_000],
    ['₹500', 500],
    ['₹12,45,000.00', 1_245_000],
    ['-5', -5],
    ['1e3', '1e3'],
    ['0x10', '0x10'],
    ['five', 'five'],
    ['1,,0', '1,,0'],
    [' ', undefined],
  ] as const)
    t.equal(typedAmount(typed), amount, typed)
  for (const amount of ['1.00', '1245000.00', '999.90'])
    t.equal(typedAmount(rupeesText(amount)), Number(amount))
})
