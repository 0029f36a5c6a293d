import t from 'tap'
import { supportsColour } from '../../src/cli/output.ts'
import { startSandbox } from '../../src/index.ts'
import { run } from './program.ts'

t.test('colours come on a terminal, unless NO_COLOR is set', async (t) => {
  const terminal = { isTTY: true }
  t.ok(supportsColour(terminal, { TERM: 'xterm' }))
  t.notOk(supportsColour(terminal, { NO_COLOR: '1' }))
  t.notOk(supportsColour(terminal, { TERM: 'dumb' }))
  t.notOk(supportsColour({}, {}), 'a pipe')
  t.ok(supportsColour({}, { FORCE_COLOR: '1' }))
  t.notOk(supportsColour(terminal, { FORCE_COLOR: '0' }))
  t.notOk(supportsColour(terminal, { NO_COLOR: '1', FORCE_COLOR: '1' }))
})

t.test(
  'a table shows its head and its errors by colour, and is the same text without',
  async (t) => {
    const sandbox = await startSandbox()
    t.teardown(sandbox.close)
    await fetch(`${sandbox.url}/user/nobody`)
    const listed = (env: Record<string, string>) =>
      run(['requests', '--url', sandbox.url], {
        env: { NO_COLOR: '', FORCE_COLOR: '', PAYOUT_SANDBOX_URL: '', ...env },
      })
    const plain = (await listed({})).stdout
    t.notMatch(plain, /\u001b/)
    t.equal((await listed({ NO_COLOR: '1', FORCE_COLOR: '1' })).stdout, plain)
    const shown = (await listed({ FORCE_COLOR: '1' })).stdout
    t.match(shown, /\u001b\[1mat\u001b\[22m/)
    t.match(shown, /\u001b\[31m400\u001b\[39m/)
    t.equal(shown.replaceAll(/\u001b\[\d+m/g, ''), plain)
  },
)
