import t from 'tap'
import { progressBar } from '../../src/cli/output.ts'

const drawn = (isTTY: boolean, total: number) => {
  const lines: string[] = []
  const bar = progressBar({ isTTY, write: (text) => lines.push(text) }, total, 'of 9 users')
  for (let i = 0; i < total; i++) bar.step()
  bar.end()
  return lines
}

t.test('a terminal sees a bar that fills once and goes', async (t) => {
  const lines = drawn(true, 10_000)
  t.equal(lines.length, 102, 'one write a percent, and one to end')
  t.equal(lines[0], `\r[${'-'.repeat(30)}]   0 % of 9 users`)
  t.equal(lines[50], `\r[${'#'.repeat(15)}${'-'.repeat(15)}]  50 % of 9 users`)
  t.equal(lines[100], `\r[${'#'.repeat(30)}] 100 % of 9 users`)
  t.equal(lines[101], '\r\u001b[2K')
})

t.test('what is no terminal sees nothing', async (t) => {
  t.strictSame(drawn(false, 100), [])
})
