// A plot of stacked counts with axes, what is under the pointer, and a table of the same numbers behind it.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { Fold } from './fields.tsx'
import { numberText } from './format.ts'
import { Table } from './ui.tsx'

const HEIGHT = 150
// Of buckets of round sizes, these many are a round time.
const STEPS = [1, 2, 3, 6, 12, 24, 48, 72, 144, 288]
const WHOLE = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap((one) => [one, 2 * one, 5 * one])

export type Mark = { first: number; last: number; word: string; tone: string; more?: string }

export type PlotProps = {
  label: string
  /** What one bucket is, for the table. */
  unit: string
  names: readonly string[]
  ticks: readonly string[]
  /** The buckets are on more than one day. */
  areDays?: boolean
  /** The number of the first bucket, so that marks of the axis are at round times. */
  first?: number
  /** From the bottom up: what is counted, and its tone. */
  stacks: readonly { name: string; tone: string; counts: readonly number[] }[]
  more?: readonly string[]
  hrefOf: (bucket: number) => string
  /** Buckets in which something else happened, from the first to the last. */
  marks?: readonly Mark[]
  endsNow?: boolean
}

/** A colour of the page for the canvas, which knows no variables. */
function colourOf(box: HTMLElement, tone: string): string {
  box.style.color = `var(--${tone})`
  const { color } = getComputedStyle(box)
  box.style.color = ''
  return color
}

/** The text of a tick, with its day where that isn't the day of the tick before. */
function tickText({ ticks, names, areDays }: PlotProps, i: number, before = -1): string {
  const day = names[i]?.slice(5, 10)
  const isNew = areDays && day !== names[before]?.slice(5, 10)
  return isNew ? `${day} ${ticks[i]}` : (ticks[i] ?? '')
}

/** Hides the words of marks that have no room before the next one, or before the end. */
function fitWords(box: HTMLElement) {
  const words = [...box.querySelectorAll<HTMLElement>('.marks i')]
  if (words.length === 0) return
  let end = box.getBoundingClientRect().right
  for (const word of words.reverse()) {
    const { left, right } = word.getBoundingClientRect()
    word.style.visibility = right + 4 > end ? 'hidden' : ''
    if (right + 4 <= end) end = left
  }
}

function optionsOf(
  colour: (tone: string) => string,
  width: number,
  latest: () => PlotProps,
  point: (bucket: number | null) => void,
) {
  const firstOf = () => latest().first ?? 0
  const axis: uPlot.Axis = {
    font: '12px system-ui',
    stroke: () => colour('soft'),
    ticks: { show: false },
    gap: 4,
  }
  const bars = uPlot.paths.bars!({ size: [0.8, 36], radius: [0.1, 0] })
  function markNow({ ctx, bbox: { left, top, width, height } }: uPlot) {
    if (!latest().endsNow) return
    ctx.fillStyle = colour('link')
    ctx.fillRect(left + width - 2, top, 2, height)
  }
  return {
    width,
    height: HEIGHT,
    padding: [16, 16, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: {
        time: false,
        range: (u, low, high) => (u.data[0].length ? [low - 0.5, high + 0.5] : [0, 1]),
      },
      y: { range: (_, _low, high) => [0, Math.max(high, 2) * 1.08] },
    },
    axes: [
      {
        ...axis,
        size: 24,
        space: () => Math.max(52, 14 + 8 * tickText(latest(), 0).length),
        incrs: STEPS,
        grid: { show: false },
        values: (_, at) =>
          at.map((one, i) => tickText(latest(), one - firstOf(), at[i - 1]! - firstOf())),
      },
      {
        ...axis,
        size: 40,
        space: 30,
        incrs: WHOLE,
        grid: { stroke: () => colour('line'), width: 1 },
        values: (_, at) => at.map(numberText),
      },
    ],
    // The highest sum is drawn first, and the lower ones over it.
    series: [
      {},
      ...latest().stacks.map((_, i) => ({
        paths: bars,
        points: { show: false },
        width: 0,
        fill: () => colour(latest().stacks.at(-1 - i)!.tone),
      })),
    ],
    hooks: { setCursor: [({ cursor: { idx } }) => point(idx ?? null)], draw: [markNow] },
  } satisfies uPlot.Options
}

function dataOf({ names, stacks, first = 0 }: PlotProps): uPlot.AlignedData {
  const sums = stacks.map((_, top) =>
    names.map((_, i) => stacks.slice(0, top + 1).reduce((sum, { counts }) => sum + counts[i]!, 0)),
  )
  return [names.map((_, i) => first + i), ...sums.reverse()]
}

/** Shows a plot in a box, and says which bucket is under the pointer. A click there opens the rows behind it. */
function useCanvas(props: PlotProps) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>()
  const latest = useRef(props)
  latest.current = props
  const [pointed, point] = useState<number | null>(null)
  useEffect(() => {
    const parent = box.current!
    // Cached until the theme changes, because the canvas asks for them many times.
    const colours = new Map<string, string>()
    function colour(tone: string): string {
      if (!colours.has(tone)) colours.set(tone, colourOf(parent, tone))
      return colours.get(tone)!
    }
    const options = optionsOf(colour, parent.clientWidth, () => latest.current, point)
    const made = new uPlot(options, dataOf(props), parent)
    plot.current = made
    made.over.addEventListener('click', () => {
      const { idx } = made.cursor
      if (idx != null) location.hash = latest.current.hrefOf(idx)
    })
    const resized = new ResizeObserver(() => {
      made.setSize({ width: parent.clientWidth, height: HEIGHT })
      fitWords(parent)
    })
    resized.observe(parent)
    // Its background changes with the theme.
    parent.addEventListener('transitionend', () => {
      colours.clear()
      made.redraw()
    })
    return () => {
      resized.disconnect()
      made.destroy()
    }
  }, [props.stacks.length])
  const data = dataOf(props)
  const text = JSON.stringify(data)
  useEffect(() => plot.current?.setData(data), [text])
  useLayoutEffect(() => fitWords(box.current!))
  return { box, pointed }
}

export const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)
const markText = ({ word, more }: Mark) => (more ? `${word}: ${more}` : word)
const marksText = ({ marks = [] }: PlotProps, bucket: number) =>
  marks.filter(({ first, last }) => first <= bucket && bucket <= last).map(markText)

const countsText = (props: PlotProps, bucket: number) =>
  [
    ...props.stacks.map(({ name, counts }) => `${numberText(counts[bucket]!)} ${name}`),
    props.more?.[bucket],
    ...marksText(props, bucket),
  ]
    .filter(Boolean)
    .join(', ')

function PlotTable(props: PlotProps) {
  const { label, unit, names, stacks, more, hrefOf } = props
  const filled = [...names.keys()].filter(
    (i) => stacks.some(({ counts }) => counts[i]! > 0) || marksText(props, i).length > 0,
  )
  return (
    <Table
      label={`${label}, as a table`}
      titles={[unit, ...stacks.map(({ name }) => name), ...(more ? ['rupees'] : [])]}
      rows={filled.map((i) => [
        <>
          <a href={hrefOf(i)}>{names[i]}</a> {marksText(props, i).join(', ')}
        </>,
        ...stacks.map(({ counts }) => numberText(counts[i]!)),
        ...(more ? [more[i]] : []),
      ])}
    />
  )
}

export function Plot(props: PlotProps) {
  const { label, names, stacks, marks = [] } = props
  const { box, pointed } = useCanvas(props)
  const isPointed = pointed !== null && pointed < names.length
  return (
    <>
      <div
        class="plot"
        ref={box}
        role="img"
        aria-label={`${label}: the table below has its numbers.`}
      >
        <div class="marks">
          {marks.map(({ first, last, word, tone }) => (
            <span
              key={`${word} ${first}`}
              class={tone}
              style={{
                left: `${(100 * first) / names.length}%`,
                width: `${(100 * (last + 1 - first)) / names.length}%`,
              }}
            >
              <i>{word}</i>
            </span>
          ))}
        </div>
      </div>
      {/* One line always, so that the pointer moves nothing. */}
      <p class="hint legend" title={marks.map(markText).join(', ')}>
        {isPointed
          ? `${names[pointed]}: ${countsText(props, pointed)}`
          : [
              ...stacks.map(({ name, tone, counts }) => ({
                tone,
                text: `${numberText(sumOf(counts))} ${name}`,
              })),
              ...marks.map((mark) => ({ tone: `hatched ${mark.tone}`, text: markText(mark) })),
            ].map(({ tone, text }) => (
              <span key={text} class={`shape ${tone}`}>
                {text}
              </span>
            ))}
      </p>
      <Fold title="As a table">
        <PlotTable {...props} />
      </Fold>
    </>
  )
}

type Bar = { name: string; count: number; tone: string; href: string }

export function Bars({ label, bars }: { label: string; bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map(({ count }) => count))
  return (
    <ul class="bars" aria-label={label}>
      {bars.map(({ name, count, tone, href }) => (
        <li
          key={name}
          style={{ '--tone': `var(--${tone})`, '--share': `${(100 * count) / most}%` }}
        >
          <a href={href}>{name}</a> <span>{numberText(count)}</span>
        </li>
      ))}
    </ul>
  )
}
