import t from 'tap'
import { Amount, AmountInput, paiseOf, rupeesOf } from '../../src/model/payment.ts'

t.test('amounts that are taken, and how they are shown', async (t) => {
  const table: [amount: number | string, paise: number, shown: string][] = [
    [1, 100, '1.00'],
    ['1', 100, '1.00'],
    ['1.0', 100, '1.00'],
    [1.1, 110, '1.10'],
    [1.01, 101, '1.01'],
    [1500.5, 150_050, '1500.50'],
    ['1500.50', 150_050, '1500.50'],
    ['0100.05', 10_005, '100.05'],
    // Numbers that times 100 are no whole number in binary.
    [1.15, 115, '1.15'],
    [8.2, 820, '8.20'],
    [4.35, 435, '4.35'],
    [1_234_567.89, 123_456_789, '1234567.89'],
    [9_999_999_999.99, 999_999_999_999, '9999999999.99'],
    ['9999999999.99', 999_999_999_999, '9999999999.99'],
    [9_999_999_999, 999_999_999_900, '9999999999.00'],
  ]
  for (const [amount, paise, shown] of table) {
    t.equal(paiseOf(amount), paise, String(amount))
    t.equal(rupeesOf(paise), shown)
    t.ok(AmountInput.safeParse(amount).success)
    t.ok(Amount.safeParse(shown).success)
  }
})

t.test('amounts that are refused and never rounded', async (t) => {
  const refused: unknown[] = [
    0,
    -0,
    0.01,
    0.99,
    '0.99',
    0.1 + 0.2,
    1.1 + 2.2,
    1.005,
    '1.005',
    '1.000',
    -1,
    '-1',
    '+1',
    1e10,
    '10000000000',
    '10000000000.00',
    1e21,
    '1e3',
    '1E3',
    5e-7,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '',
    ' ',
    ' 1',
    '1 ',
    '1\n',
    '1.',
    '.5',
    '1,000',
    '1,5',
    '0x10',
    '1_000',
    '१००',
    '100 INR',
    '1.2.3',
    null,
    undefined,
    true,
    [1],
    { amount: 1 },
    10n,
  ]
  for (const amount of refused) {
    const name = `${typeof amount} ${String(amount)}`
    t.notOk(AmountInput.safeParse(amount).success, name)
  }
  for (const text of ['1e10', '1.005', '-1', '10000000000', '1.', '', '1e3'])
    t.equal(paiseOf(text), undefined, text)
  t.equal(paiseOf(0.1 + 0.2), undefined)
})

t.test('paise are shown with two places', async (t) => {
  for (const [paise, shown] of [
    [0, '0.00'],
    [5, '0.05'],
    [99, '0.99'],
    [100, '1.00'],
    [110, '1.10'],
  ] as const)
    t.equal(rupeesOf(paise), shown)
})
