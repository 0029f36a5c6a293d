import t from 'tap'
import { maskIfsc, maskNumber, maskText } from '../../src/model/mask.ts'

t.test('a surrogate pair is one character of a mask', async (t) => {
  t.equal(maskNumber('a😀😀b'), 'XXXX')
  t.equal(maskNumber('ab😀😀c'), 'Xb😀😀c')
  t.equal(maskNumber('123456😀78😀'), 'XXXXXX😀78😀')
  t.equal(maskIfsc('😀😀😀😀b😀😀😀'), '😀😀😀😀X😀😀😀')
  t.equal(maskIfsc('😀😀😀😀😀😀😀'), 'XXXXXXX')
  t.equal(maskText('😀123456789😀'), '😀XXXXX6789😀')
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
