import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { PACKAGE_ROOT } from '../src/config/package-root.ts'

// The bench is plain JavaScript without types.
const load = (name: string) => import(join(PACKAGE_ROOT, 'bench', name))
const { goalsOf, serversOf, startGoalsOf } = await load('peers/figures.mjs')
const { plotOf } = await load('peers/plot.mjs')
const { lineOf, linesBetween, lineWithout, mergedLines, summaryOf, tableOf, writeBetween } =
  await load('table.mjs')
const children = await load('children.mjs')

const SERVERS = [
  { name: 'payout-sandbox', title: 'payout-sandbox', keeps: 'disk' },
  { name: 'node-http', title: 'node:http', keeps: 'memory', limit: true },
  { name: 'quick', title: 'quick <1>', keeps: 'memory' },
  { name: 'keeper', title: 'keeper', keeps: 'disk' },
  { name: 'canned', title: 'canned', keeps: 'nothing' },
]
const FIGURES = {
  // In the last round the machine was twice as slow for all of them.
  start: {
    'payout-sandbox': [150, 150, 300],
    'node-http': [100, 100, 200],
    quick: [120, 120, 240],
    keeper: [300, 300, 600],
  },
  memory: { 'payout-sandbox': [50], keeper: [100] },
  read: {
    'payout-sandbox': [8_000, 8_000, 4_000],
    'node-http': [16_000, 16_000, 8_000],
    quick: [1_000, 1_000, 500],
    keeper: [500, 500, 250],
    canned: [4_000, 4_000, 2_000],
  },
  list: { 'payout-sandbox': [9_000, 9_000, 9_000], keeper: [1_000, 1_500, 3_000] },
  create: {
    100: {
      'payout-sandbox': [6_000, 6_000, 6_000],
      quick: [5_000, 5_000, 5_000],
      keeper: [300, 300, 300],
    },
    100000: {
      'payout-sandbox': [6_000, 6_000, 6_000],
      quick: [5_000, 5_000, 5_000],
      keeper: [4, 4, 2],
    },
  },
  memoryLarge: {},
}

t.test('each start, and the nearest rival of each other goal, counts round by round', async (t) => {
  t.strictSame(goalsOf(FIGURES, SERVERS), [
    ['Start to first 200 ÷ node:http', 'at most 2.4', '1.50', '1.50 to 1.50', 'met'],
    ['Start of quick <1> ÷ start of the sandbox', 'at least 1', '0.80', '0.80 to 0.80', 'missed'],
    ['Start of keeper ÷ start of the sandbox', 'at least 1', '2.00', '2.00 to 2.00', 'met'],
    // The limit is no rival, whatever it reaches.
    ['Read one user ÷ canned', 'at least 4', '2.00', '2.00 to 2.00', 'missed'],
    ['List ten users ÷ keeper', 'at least 4', '6.00', '3.00 to 9.00', 'met'],
    // Nor is one a rival at keeping data that holds it in memory.
    ['Create at 100 rows ÷ keeper', 'at least 20', '20.00', '20.00 to 20.00', 'met'],
    ['Create at 100,000 rows ÷ keeper', 'at least 2000', '1500.00', '1500.00 to 3000.00', 'missed'],
    // The limit has goals of its own.
    ['Read one user ÷ node:http', 'at least 0.85', '0.50', '0.50 to 0.50', 'missed'],
  ])
})

t.test('a goal is left out where no rival was measured', async (t) => {
  const alone = { start: {}, read: {}, list: {}, create: {} }
  t.strictSame(goalsOf(alone, SERVERS), [])
})

t.test(
  'starts on another Node are named, and so is the reason if they were not measured',
  async (t) => {
    const servers = SERVERS.slice(0, 3)
    const how = { under: 1.4, on: ' on Node 24' }
    t.strictSame(startGoalsOf(FIGURES.start, servers, how), [
      [
        'Start to first 200 ÷ node:http on Node 24',
        'at most 1.4',
        '1.50',
        '1.50 to 1.50',
        'missed',
      ],
      [
        'Start of quick <1> ÷ start of the sandbox on Node 24',
        ...['at least 1', '0.80', '0.80 to 0.80', 'missed'],
      ],
    ])
    t.strictSame(startGoalsOf({}, servers, { ...how, reason: 'no Node' })[0], [
      'Start to first 200 ÷ node:http on Node 24',
      ...['at most 1.4', '–', '–', 'not measured: no Node'],
    ])
    t.equal(serversOf(FIGURES, SERVERS, ' on Node 24')[0][0], '**payout-sandbox** on Node 24')
  },
)

t.test('the summary names each goal that is missed or not measured', async (t) => {
  const met = lineOf('Good', { under: 2, values: [1] })
  const missed = lineOf('Bad', { over: 2, unit: ' MB', values: [1, 1.5, 9] })
  const without = lineWithout('Away', { under: 3, reason: 'no Node' })
  const plain = lineOf('No goal', { values: [1] })
  t.equal(
    summaryOf([met, missed, without, plain]),
    [
      '1 of 3 goals is met.',
      '',
      '- **Missed**: Bad. Goal: at least 2 MB; median: 1.50 MB.',
      '- **Not measured**: Away. Goal: at most 3; no Node.',
    ].join('\n'),
  )
  t.equal(summaryOf([met]), '1 of 1 goals is met.')
})

t.test('a server’s line has medians and how many times better the sandbox is', async (t) => {
  const lines = serversOf(FIGURES, SERVERS)
  t.strictSame(lines[0], [
    '**payout-sandbox**',
    'on disk',
    ...['150', '50', '8,000', '9,000', '6,000', '–', '6,000', '–'],
  ])
  t.strictSame(lines[3], [
    'keeper',
    'on disk',
    ...['300 (2×)', '100 (2×)', '500 (16×)', '1,500 (6×)', '300 (20×)', '–', '4 (1,500×)', '–'],
  ])
})

t.test('the picture has each server, its figures, and nothing that ends it early', async (t) => {
  const svg: string = plotOf(FIGURES, SERVERS)
  t.match(svg, /^<svg [^>]*role="img"[^>]*>\n<style>/)
  t.match(svg, 'prefers-color-scheme: dark')
  t.notMatch(svg, /NaN|Infinity|undefined/)
  t.match(svg, 'quick &lt;1&gt;')
  const widthOf = (panel: number, name: string) => {
    const [, part] = svg.split('class="head"').slice(panel)
    const [, width] = new RegExp(`>${name}</text>\\n<rect [^>]*width="([\\d.]+)"`).exec(part!)!
    return Number(width)
  }
  t.equal(widthOf(0, 'keeper') / widthOf(0, 'payout-sandbox'), 2)
  t.ok(Math.abs(widthOf(1, 'payout-sandbox') / widthOf(1, 'canned') - 2) < 0.01)
  // Up is more: the keeper's line falls, ours stays level; who keeps nothing has none.
  const ways = [...svg.matchAll(/<path d="M[\d.]+ ([\d.]+)L[\d.]+ ([\d.]+)" class="line (\w+)"/g)]
  const [ours, , keeper] = ways.map(([, from, to]) => Number(to) - Number(from))
  t.strictSame(
    ways.map(([, , , kind]) => kind),
    ['us', 'rival', 'rival'],
  )
  t.equal(ours, 0)
  t.ok(keeper! > 50)
  // Two end on the same height and one at the bottom: no name lies on another or on the axis.
  const close = {
    ...FIGURES,
    create: {
      100: FIGURES.create[100],
      100000: { 'payout-sandbox': [10], quick: [1], keeper: [1] },
    },
  }
  const names = [...plotOf(close, SERVERS).matchAll(/<text x="616" y="([\d.]+)"/g)]
  const [top, middle, low] = names.map(([, y]) => Number(y))
  t.ok(middle! - top! >= 15 && low! - middle! >= 15, 'apart')
  t.ok(low! <= 596, 'above the axis')
})

t.test('a page without the marks is refused and left as it is', async (t) => {
  const file = join(mkdtempSync(join(tmpdir(), 'page-')), 'page.md')
  writeFileSync(file, 'a\n<!-- peers -->\nold\n<!-- end of peers -->\nz\n')
  writeBetween(file, 'peers', 'new $1')
  t.equal(readFileSync(file, 'utf8'), 'a\n<!-- peers -->\n\nnew $1\n\n<!-- end of peers -->\nz\n')
  t.throws(() => writeBetween(file, 'table', 'new'), { message: /has no <!-- table --> markers/ })
  t.match(readFileSync(file, 'utf8'), 'new $1')
})

/** The load on a server: this number of requests on three connections. */
async function loadOn(t: Test, listener: RequestListener, most: number, reconnect = false) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.on('listening', resolve))
  const helper = children.startHelper(join(PACKAGE_ROOT, 'bench/load.mjs'))
  t.teardown(async () => {
    await children.end(helper)
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const job = { port, path: '/', body: 'user', ms: 20_000, most, reconnect, connections: 3 }
  return children.ask(helper, job)
}

t.test('the load counts each whole answer once, by its length or by its chunks', async (t) => {
  const seen: string[] = []
  const { requests } = await loadOn(
    t,
    async (request, response) => {
      let text = ''
      for await (const chunk of request) text += chunk
      seen.push(JSON.parse(text).email)
      if (seen.length % 2 === 0) return void response.end('a whole answer')
      response.write('a first chunk')
      setImmediate(() => response.end('and the last'))
    },
    31,
  )
  t.equal(requests, 31)
  t.equal(new Set(seen).size, 31)
})

t.test('the load takes neither a refusal nor a lost connection for an answer', async (t) => {
  const refusing: RequestListener = (_request, response) => response.writeHead(500).end('no')
  await t.rejects(loadOn(t, refusing, 5), /The server under load responded: HTTP\/1\.1 500/)
  await t.rejects(
    loadOn(t, (request) => request.destroy(), 5),
    /The server under load closed the connection/,
  )
})

t.test('a kept connection that is lost is made anew only where that is asked for', async (t) => {
  const answered = new WeakSet<object>()
  const losing: RequestListener = ({ socket }, response) => {
    if (answered.has(socket)) return void socket.destroy()
    answered.add(socket)
    response.end('a whole answer')
  }
  t.equal((await loadOn(t, losing, 7, true)).requests, 7)
  await t.rejects(loadOn(t, losing, 7), /The server under load closed the connection/)
})

t.test('a partial run of the bench replaces only the rows that it measured', (t) => {
  const page = join(
    t.testdir({ 'page.md': '<!-- table -->\n\n<!-- end of table -->\n' }),
    'page.md',
  )
  const old = [
    ['reads', 'at least 1', '0.5', '', 'missed'],
    ['creates', 'at least 1', '2', '', 'met'],
  ]
  const head = ['What', 'Goal', 'Median', 'Least to most', 'Outcome']
  writeBetween(page, 'table', tableOf(head, old))
  const kept = linesBetween(page, 'table')
  t.same(kept, old)
  const reads = ['reads', 'at least 1', '1.5', '', 'met']
  const more = ['starts', 'at most 1', '1', '', 'met']
  t.same(mergedLines(kept, [more, reads]), [reads, old[1], more])
  t.end()
})
