// The picture of docs/performance.md: three panels, readable on light and on dark pages.
import { medianOf } from '../table.mjs'

const WIDTH = 820
const HEIGHT = 660
const LABEL = 176
const BAR = 15
const LINE = 21
const NAME = 15

const STYLE = `
text { font: 12px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328 }
.card { fill: #ffffff; stroke: #d1d9e0 }
.head { font-size: 13px; font-weight: 600 }
.faint { fill: #59636e }
.grid { stroke: #d1d9e0 }
.us { fill: #0969da; stroke: #0969da }
.rival { fill: #8c959f; stroke: #8c959f }
.limit { fill: #d4b45f; stroke: #d4b45f }
path.line { fill: none; stroke-width: 2 }
path.line.us { stroke-width: 3 }
text.us { font-weight: 600; stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .card { fill: #0d1117; stroke: #3d444d }
  .faint { fill: #9198a1 }
  .grid { stroke: #30363d }
  .us { fill: #58a6ff; stroke: #58a6ff }
  .rival { fill: #7d8590; stroke: #7d8590 }
  .limit { fill: #a8852f; stroke: #a8852f }
}`

const escaped = (text) =>
  String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const round = (number) => Math.round(number * 10) / 10
const grouped = (number) => Number(number.toPrecision(3)).toLocaleString('en')

const text = (x, y, words, { kind = '', anchor = 'start' } = {}) =>
  `<text x="${round(x)}" y="${round(y)}"${kind && ` class="${kind}"`} text-anchor="${anchor}">${escaped(words)}</text>`

const kindOf = (server) =>
  server.limit ? 'limit' : server.name === 'payout-sandbox' ? 'us' : 'rival'

/** Bars from the best to the worst, each with its median. */
function bars({ x, y, width, title, byName, servers, less }) {
  const found = servers
    .filter(({ name }) => byName[name])
    .map((server) => ({ server, value: medianOf(byName[server.name]) }))
    .sort((a, b) => (less ? a.value - b.value : b.value - a.value))
  const most = Math.max(...found.map(({ value }) => value))
  // Space for the number after the longest bar.
  const scale = (width - LABEL - 52) / most
  const parts = found.map(({ server, value }, i) => {
    const [top, kind] = [y + 16 + i * LINE, kindOf(server)]
    const [left, long] = [x + LABEL, Math.max(value * scale, 1)]
    return [
      text(left - 8, top + 12, server.title, {
        kind: kind === 'us' ? 'us' : '',
        anchor: 'end',
      }),
      `<rect x="${left}" y="${top}" width="${round(long)}" height="${BAR}" rx="2" class="${kind}"/>`,
      text(left + long + 6, top + 12, grouped(value), { kind: 'faint' }),
    ].join('\n')
  })
  return [text(x, y, title, { kind: 'head' }), ...parts].join('\n')
}

/** Vertical positions of labels, moved apart if they overlap; none below `lowest`. */
function spread(sorted, lowest) {
  const found = []
  for (const at of sorted) found.push(Math.max(at, (found.at(-1) ?? 0) + NAME))
  let floor = lowest
  for (let i = found.length - 1; i >= 0; i--) {
    found[i] = Math.min(found[i], floor)
    floor = found[i] - NAME
  }
  return found
}

/** Creates a second by stored rows, both on a logarithmic scale. */
function lines({ x, y, width, height, title, create, servers }) {
  const sizes = Object.keys(create).map(Number)
  const all = sizes.flatMap((size) =>
    servers.flatMap(({ name }) => (create[size][name] ? [medianOf(create[size][name])] : [])),
  )
  const [low, high] = [
    Math.floor(Math.log10(Math.min(...all))),
    Math.ceil(Math.log10(Math.max(...all))),
  ]
  const [left, right, top, bottom] = [x + 60, x + width - LABEL - 20, y + 16, y + height - 36]
  const span = Math.log10(sizes.at(-1) / sizes[0]) || 1
  const acrossOf = (size) => left + (Math.log10(size / sizes[0]) / span) * (right - left)
  const downOf = (value) =>
    bottom - ((Math.log10(value) - low) / (high - low || 1)) * (bottom - top)

  const grid = []
  for (let power = low; power <= high; power++) {
    const at = round(downOf(10 ** power))
    grid.push(`<path d="M${left} ${at}H${right}" class="grid"/>`)
    grid.push(text(left - 8, at + 4, grouped(10 ** power), { kind: 'faint', anchor: 'end' }))
  }
  for (const size of sizes) {
    grid.push(
      text(acrossOf(size), bottom + 18, `${grouped(size)} rows`, {
        kind: 'faint',
        anchor: 'middle',
      }),
    )
  }
  const drawn = servers
    .map((server) => ({
      server,
      points: sizes
        .filter((size) => create[size][server.name])
        .map((size) => [acrossOf(size), downOf(medianOf(create[size][server.name]))]),
    }))
    .filter(({ points }) => points.length > 1)
  const paths = drawn.map(({ server, points }) => {
    const kind = kindOf(server)
    const dots = points.map(
      ([a, b]) => `<circle cx="${round(a)}" cy="${round(b)}" r="3" class="${kind}"/>`,
    )
    const way = points.map((point) => point.map(round).join(' ')).join('L')
    return [`<path d="M${way}" class="line ${kind}"/>`, ...dots].join('\n')
  })
  const ends = drawn
    .map(({ server, points }) => ({ server, at: points.at(-1)[1] + 4 }))
    .sort((a, b) => a.at - b.at)
  const apart = spread(
    ends.map(({ at }) => at),
    bottom,
  )
  const names = ends.map(({ server }, i) => {
    const kind = kindOf(server) === 'us' ? 'us' : ''
    return text(right + 12, apart[i], server.title, { kind })
  })
  return [text(x, y, title, { kind: 'head' }), ...grid, ...paths, ...names].join('\n')
}

/** The figures of `goalsOf` as one SVG document. */
export function plotOf({ start, read, create }, servers) {
  const half = WIDTH / 2
  const storing = servers.filter(({ keeps }) => keeps !== 'nothing')
  const parts = [
    bars({
      ...{ x: 20, y: 32, width: half - 30, servers, byName: start, less: true },
      title: 'Start to first 200, ms (less is better)',
    }),
    bars({
      ...{ x: half + 10, y: 32, width: half - 30, servers, byName: read },
      title: 'Read one user, requests a second',
    }),
    lines({
      ...{ x: 20, y: 332, width: WIDTH - 40, height: 300, create, servers: storing },
      title: 'Create a user, requests a second by stored rows (both scales logarithmic)',
    }),
    text(
      20,
      HEIGHT - 14,
      'Blue: payout-sandbox. Yellow: limits that check nothing and keep nothing on disk. Grey: rivals.',
      { kind: 'faint' },
    ),
  ]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="The sandbox beside its rivals: start, reads, and creates by stored rows">
<style>${STYLE}
</style>
<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="6" class="card"/>
${parts.join('\n')}
</svg>
`
}
