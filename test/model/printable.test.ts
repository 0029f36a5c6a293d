import t from 'tap'
import { problemText } from '../../src/model/errors.ts'
import { jsonLine, printable, printableLine } from '../../src/model/words.ts'
import { createLog } from '../../src/server.ts'
import { oneLine } from '../../src/tools/report/table.ts'

// C0, DEL and C1 controls, and each mark that turns the direction of a text.
const ACTED_ON = [
  ...Array.from({ length: 32 }, (_, code) => code),
  ...Array.from({ length: 33 }, (_, code) => 0x7f + code),
  ...[0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e],
  ...[0x2066, 0x2067, 0x2068, 0x2069],
].map((code) => String.fromCharCode(code))
const isSafe = (text: string, ...but: string[]) =>
  ACTED_ON.every((one) => but.includes(one) || !text.includes(one))
const EVIL = `a${ACTED_ON.join('b')}c`

t.test('nothing that a terminal acts on is printed', async (t) => {
  t.ok(isSafe(printable(EVIL), '\n', '\t'))
  t.ok(isSafe(printableLine(EVIL)))
  t.ok(isSafe(oneLine(EVIL)))
  t.equal(printable('₹ é \u{1f600} שלום\n\tx'), '₹ é \u{1f600} שלום\n\tx', 'other text stays')
  const at = { file: EVIL, line: 1, column: 2, path: '' }
  t.ok(isSafe(problemText({ ...at, message: EVIL })))
  t.ok(isSafe(problemText({ ...at, line: 0, path: EVIL, message: EVIL })))
})

t.test('JSON stays the same value', async (t) => {
  const value = { [EVIL]: [EVIL, '₹', 1] }
  const line = jsonLine(value)
  t.ok(isSafe(line, '\n'))
  t.equal(line.indexOf('\n'), line.length - 1)
  t.same(JSON.parse(line), value)
})

t.test('the log is fit for a terminal in both forms', async (t) => {
  for (const format of ['pretty', 'json'] as const) {
    let written = ''
    const log = createLog({
      level: 'info',
      format,
      wall: () => 0,
      write: (text) => {
        written += text
      },
    })
    log.error(`GET /v1/${EVIL}`, new Error(EVIL))
    t.ok(isSafe(written, '\n', '\t'), format)
    if (format === 'json') t.match(JSON.parse(written), { message: `GET /v1/${EVIL}` })
  }
})
