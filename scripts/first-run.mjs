// node scripts/first-run.mjs: runs the session below against a real sandbox, and writes it as docs/img/first-run.svg, which CSS
// animates. Run scripts/screenshots.mjs before: the console is its last picture.
import { execFile, spawn } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, temporaryFolder } from './run.mjs'

const program = join(root, 'dist/bin.cjs')
const folder = temporaryFolder('first-run')
cpSync(join(root, 'examples/sweep'), folder, { recursive: true })
const [payer, payee, account] = ['0…1', '0…3', 'b…3'].map((short) =>
  short.replace('…', '0000000-0000-4000-8000-00000000000'),
)
const payment = { from_user_id: payer, to_user_id: payee, benif_bank_id: account, amount: 250 }
writeFileSync(join(folder, 'payment.json'), JSON.stringify(payment))

const STATUS = `| grep -o '"transaction_status":"[a-z]*"'`
const START = 'npm start -- --memory --clock frozen'
const COMMANDS = [
  `curl -s localhost:4310/v1/transaction --json @payment.json ${STATUS}`,
  'payout-sandbox clock advance 3s',
  `curl -s localhost:4310/v1/transaction/ID ${STATUS}`,
  'payout-sandbox sweep --clock-speed 1000 --only createTransaction -- node payouts.test.mjs | head -2',
]

/** Runs a command as it is shown, with the port and the program that are there. */
const run = (command, port) =>
  new Promise((resolve, reject) => {
    const own = command.replace('4310', port).replace('payout-sandbox', `node ${program}`)
    const env = { ...process.env, ...(!own.includes('sweep') && { PAYOUT_SANDBOX_PORT: port }) }
    execFile('sh', ['-c', own], { cwd: folder, env }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    )
  })

const words = ['start', '--memory', '--clock', 'frozen', '--port', '0', '--log-level', 'silent']
const server = spawn('node', [program, ...words], { cwd: folder })
try {
  const ready = await new Promise((resolve) => server.stdout.once('data', resolve)).then(String)
  const [, port] = /:(\d+)\/v1/.exec(ready)
  const session = [[START, ready.replaceAll(port, '4310')]]
  const id = async () =>
    (await (await fetch(`http://127.0.0.1:${port}/v1/transaction`)).json()).data.transactions[0]
      .transaction_id
  for (const command of COMMANDS) {
    const shown = command.includes('/ID') ? command.replace('ID', await id()) : command
    session.push([shown, await run(shown, port)])
  }
  writeFileSync(join(root, 'docs/img/first-run.svg'), svgOf(session))
} finally {
  server.kill()
}

function svgOf(session) {
  let [seconds, y] = [-1, 12]
  const lines = session.flatMap(([command, output]) => {
    const shown = [`$ ${command}`, ...output.split('\n').filter((line) => line.trim() !== '')]
    return shown.map((line, index) => {
      seconds += index === 0 ? 1.5 : index === 1 ? 0.9 : 0.1
      y += index === 0 ? 26 : 18
      const safe = line.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
      return `<text x="16" y="${y}" class="${index === 0 ? 'command' : 'output'}" style="animation-delay:${seconds.toFixed(1)}s">${safe}</text>`
    })
  })
  const screen = readFileSync(join(root, 'docs/img/console-overview.png')).toString('base64')
  // After the terminal, the console below it.
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 ${y + 700}" role="img" aria-label="A first run in a terminal, then the console">
<style>image{animation:show .6s ${(seconds + 1.5).toFixed(1)}s backwards}text{font:13px ui-monospace,Menlo,Consolas,monospace;white-space:pre;fill:#d0d7de;animation:show .01s backwards}
.command{fill:#7ee787}@keyframes show{from{opacity:0}}@media(prefers-reduced-motion:reduce){text,image{animation:none}}</style>
<rect width="100%" height="${y + 18}" rx="8" fill="#0d1117"/>
${lines.join('\n')}
<image x="0" y="${y + 28}" width="960" height="666" href="data:image/png;base64,${screen}"/>
</svg>
`
}
