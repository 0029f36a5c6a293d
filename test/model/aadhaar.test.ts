import t from 'tap'
import { isAadhaar } from '../../src/model/kyc.ts'

t.test('the check digit is that of Verhoeff', async (t) => {
  // The scheme's published example: 236 has the check digit 3.
  t.ok(isAadhaar('2363'))
  t.notOk(isAadhaar('2364'))
  for (const body of ['99999990000', '12345678901', '00000000000']) {
    const valid = [...'0123456789'].filter((last) => isAadhaar(body + last))
    t.equal(valid.length, 1, `${body} has one check digit`)
    const number = body + valid[0]
    for (let i = 0; i + 1 < number.length; i++) {
      const [a, b] = [number[i]!, number[i + 1]!]
      if (a === b) continue
      const swapped = number.slice(0, i) + b + a + number.slice(i + 2)
      t.notOk(isAadhaar(swapped), `${swapped} is a slip`)
    }
  }
})
