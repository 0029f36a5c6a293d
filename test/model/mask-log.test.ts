import t from 'tap'
import { isSecretName, maskLogText, maskValue } from '../../src/model/mask.ts'
import { createLog } from '../../src/server.ts'

const ID = '00000000-0000-4000-8000-000000000001'

t.test('texts keep ids, and lose numbers, tokens and secrets', async (t) => {
  const cases: [string, string][] = [
    [`/v1/user/${ID}`, `/v1/user/${ID}`],
    [`${ID.toUpperCase().replace('4000', '4ABC')}`, `${ID.replace('4000', '4ABC')}`],
    ['/v1/user/987654321098', '/v1/user/XXXXXXXX1098'],
    ['pay 9876 5432 1098 now', 'pay XXXXXXXXXX1098 now'],
    ['ABCPX1234Z', 'XXXXXX234Z'],
    ['to hdfc0001234.', 'to hdfcXXXX234.'],
    ['x_HDFC0001234_y', 'x_HDFCXXXX234_y'],
    ['Bearer abc.def-ghi', 'Bearer XXXX'],
    ['auth basic dTpw', 'auth basic XXXX'],
    ['Send Bearer <token> with the token', 'Send Bearer <token> with the token'],
    ['sbx_test_token', 'XXXX'],
    ['see sbx_admin_12ab, whsec_c2FuZA==', 'see XXXX, XXXXXXXXXXZA=='],
    ['http://user:pw@host/x', 'http://XXXX@host/x'],
    [`http://${ID}:pw@host/x`, 'http://XXXX@host/x'],
    ['http://h/?a=1&access_token=abc&b=2#f', 'http://h/?a=1&access_token=XXXX&b=2#f'],
    ['?apikey=1&x-signature=2', '?apikey=XXXX&x-signature=XXXX'],
    ['at most 9999999999.99, from 123456789012.5', 'at most 9999999999.99, from XXXXXXXX9012.5'],
    [
      'nothing to hide: 2026-01-01T00:00:00.000Z, 12345678',
      'nothing to hide: 2026-01-01T00:00:00.000Z, 12345678',
    ],
  ]
  for (const [text, masked] of cases) t.equal(maskLogText(text), masked, text)
})

t.test('values are masked by the names of their fields too', async (t) => {
  t.strictSame(
    maskValue({
      account_number: '1234',
      accountNumber: 987654321098,
      document_number: 'abc12',
      utr: '12345',
      pan: 'x',
      ifsc_code: 'HDFC0001',
      webhook_secret: 'short',
      access_token: { deep: ['x'] },
      password: 7,
      empty_secret: '',
      nothing_secret: null,
      user_id: ID,
      amount: 250.5,
      ok: true,
      list: ['ABCPX1234Z', { utr: ['12345', 678901] }],
      '987654321098': 1,
    }),
    {
      account_number: 'XXXX',
      accountNumber: 'XXXXXXXX1098',
      document_number: 'Xbc12',
      utr: 'X2345',
      pan: 'X',
      ifsc_code: 'HDFCX001',
      webhook_secret: 'XXXX',
      access_token: 'XXXX',
      password: 'XXXX',
      empty_secret: '',
      nothing_secret: null,
      user_id: ID,
      amount: 250.5,
      ok: true,
      list: ['XXXXXX234Z', { utr: ['X2345', 'XX8901'] }],
      XXXXXXXX1098: 1,
    },
  )
  for (const name of [
    'Authorization',
    'cookie',
    'set-cookie',
    'X-Admin-Token',
    'webhook-signature',
    'x-api-key',
    'apikey',
  ])
    t.ok(isSecretName(name), name)
  for (const name of ['idempotency-key', 'content-type', 'user_id'])
    t.notOk(isSecretName(name), name)
})

t.test('neither depth nor length makes masking slow or break', async (t) => {
  const deep = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000))
  t.match(JSON.stringify(maskValue(deep)), '"XXXX"')
  const proto = maskValue(JSON.parse('{"__proto__":{"a":"x"}}')) as object
  t.equal(Object.getPrototypeOf(proto), Object.prototype)
  for (const piece of [
    '?',
    '?token',
    '&a',
    '://',
    '://a',
    '9',
    '9 ',
    'a',
    'sbx_',
    'bearer ',
    '0000-',
    'ABCD0',
    'ABCPX1234Z',
  ]) {
    const began = performance.now()
    maskLogText(piece.repeat(Math.ceil((64 * 1024) / piece.length)))
    t.ok(performance.now() - began < 2_000, JSON.stringify(piece))
  }
})

t.test('a log line masks what a message shows to the owner of a file', (t) => {
  for (const format of ['pretty', 'json'] as const) {
    const lines: string[] = []
    const log = createLog({
      level: 'warn',
      format,
      wall: () => 0,
      write: (line) => lines.push(line),
    })
    log.warn('x.yaml:2:64: put "000123456789" in quotes; HDFC0001234, ABCPX1234Z, sbx_a')
    log.error(`user ${ID}`, new Error('account 000123456789'))
    const received = lines.join('')
    t.match(received, /XXXXXXXX6789.*HDFCXXXX234, XXXXXX234Z, XXXX/)
    t.notMatch(received, /000123456789|HDFC0001234|ABCPX|sbx_a/)
    t.match(received, ID)
  }
  t.end()
})
