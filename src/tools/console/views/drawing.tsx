/** The words of a path: `!` begins what fails, `<` what comes back, `…` what is to come; `~` is a leap of time, `|` an end, `''` nothing. */
export type Lane = readonly string[]

const STEP = 84
// Half of the longest word has room beside the first dot.
const LEFT = 44
const ROW = 44
const classOf = (word: string) =>
  word.startsWith('!') || word.startsWith('<')
    ? 'bad'
    : /SUCCESS|success/.test(word)
      ? 'good'
      : /^[A-Z]+$|pending/.test(word) && word !== 'POST'
        ? 'open'
        : ''

function Dot({ word, x, y }: { word: string; x: number; y: number }) {
  if (word === '') return null
  if (word === '~' || word === '|')
    return (
      <path
        class="leap"
        d={word === '~' ? `M${x - 5} ${y + 7}l6 -14m4 14l6 -14` : `M${x} ${y - 9}v18`}
      />
    )
  return (
    <>
      {word.startsWith('…') ? null : <circle class={classOf(word)} cx={x} cy={y} r="6" />}
      <text x={x} y={y + 21} text-anchor="middle">
        {word.replace(/^[!<…]/, '')}
      </text>
    </>
  )
}

/** The path of statuses that a trouble leads to. */
export const Drawing = ({ lanes }: { lanes: readonly Lane[] }) => (
  <svg
    class="drawing"
    viewBox={`0 0 ${LEFT * 2 + STEP * 3} ${ROW * lanes.length + 8}`}
    aria-hidden="true"
  >
    {lanes.map((lane, row) => {
      const y = row * ROW + 14
      const first = lane.findIndex((word) => word !== '')
      const end = lane.length - 1
      const isOpen = lane[end]!.startsWith('…')
      return (
        <g key={row}>
          {first > 0 && <path d={`M${LEFT} ${y - ROW}V${y}H${LEFT + first * STEP}`} />}
          <path d={`M${LEFT + first * STEP} ${y}H${LEFT + (isOpen ? end - 1 : end) * STEP}`} />
          {isOpen && <path class="ahead" d={`M${LEFT + (end - 1) * STEP} ${y}h${STEP}`} />}
          {lane.map((word, i) => (
            <Dot key={i} word={word} x={LEFT + i * STEP} y={y} />
          ))}
        </g>
      )
    })}
  </svg>
)
