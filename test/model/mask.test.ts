import t from 'tap'
import { maskIfsc, maskNumber, maskText } from '../../src/model/mask.ts'

t.test('a number keeps its last four characters and its length', async (t) => {
  const table: [name: string, value: string, masked: string][] = [
    ['account of 9 digits', '123456789', 'XXXXX6789'],
    ['account of 12 digits', '999912345678', 'XXXXXXXX5678'],
    ['account of 18 digits', '123456789012345678', 'XXXXXXXXXXXXXX5678'],
    ['PAN', 'ABCPD1234E', 'XXXXXX234E'],
    ['Aadhaar', '999999990019', 'XXXXXXXX0019'],
    ['UTR', '600100000041', 'XXXXXXXX0041'],
    ['longer than any', '1234567890123456789012', 'XXXXXXXXXXXXXXXXXX9012'],
    ['five', '12345', 'X2345'],
    ['four', '1234', 'XXXX'],
    ['one', '1', 'X'],
    ['none', '', ''],
  ]
  for (const [name, value, masked] of table) {
    t.equal(maskNumber(value), masked, name)
    t.equal(masked.length, value.length)
  }
})

t.test('a surrogate pair is one character of a mask', async (t) => {
  t.equal(maskNumber('a😀😀b'), 'XXXX')
  t.equal(maskNumber('ab😀😀c'), 'Xb😀😀c')
  t.equal(maskNumber('123456😀78😀'), 'XXXXXX😀78😀')
  t.equal(maskIfsc('😀😀😀😀b😀😀😀'), '😀😀😀😀X😀😀😀')
  t.equal(maskIfsc('😀😀😀😀😀😀😀'), 'XXXXXXX')
  t.equal(maskText('😀123456789😀'), '😀XXXXX6789😀')
})

t.test('an IFSC keeps its first four and last three characters', async (t) => {
  const table: [value: string, masked: string][] = [
    ['HDFC0000001', 'HDFCXXXX001'],
    ['SBIN0ABC123', 'SBINXXXX123'],
    ['HDFC0001', 'HDFCX001'],
    ['HDFC001', 'XXXXXXX'],
    ['HD', 'XX'],
    ['', ''],
  ]
  for (const [value, masked] of table) t.equal(maskIfsc(value), masked)
})

t.test('numbers, secrets and user info are masked inside a text', async (t) => {
  const table: [text: string, masked: string][] = [
    ['to 999912345678.', 'to XXXXXXXX5678.'],
    ['123456789', 'XXXXX6789'],
    ['12345678', '12345678'],
    ['a999912345678b', 'aXXXXXXXX5678b'],
    ['1234567890123456789', 'XXXXXXXXXXXXXXX6789'],
    ['12345678901234567890123', 'XXXXXXXXXXXXXXXXXXX0123'],
    ['999900000001 and 999900000002', 'XXXXXXXX0001 and XXXXXXXX0002'],
    ['PAN ABCPD1234E', 'PAN XXXXXX234E'],
    ['pan abcpd1234e', 'pan XXXXXX234e'],
    ['ABCPD1234EX', 'ABCPD1234EX'],
    ['the secret whsec_dGVzdA== is', 'the secret XXXXXXXXXXdA== is'],
    ['http://me:pass@example.com/a', 'http://XXXX@example.com/a'],
    ['https://me@127.0.0.1:1/a?b=c@d', 'https://XXXX@127.0.0.1:1/a?b=c@d'],
    ['http://example.com/a@b', 'http://example.com/a@b'],
    ['amount 9999999.99 on page 12', 'amount 9999999.99 on page 12'],
  ]
  for (const [text, masked] of table) t.equal(maskText(text), masked)
})
