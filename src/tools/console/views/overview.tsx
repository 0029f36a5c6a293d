import { callOf, type Response } from '../api.ts'
import { useClient } from '../client.ts'
import { countText, isoOf, ordinalWord, rupeesText, spanText } from '../format.ts'
import { Bars, type Mark, Plot, type PlotProps, sumOf } from '../plot.tsx'
import { useWatched } from '../route.ts'
import { At, useTimes } from '../settings.tsx'
import { Card, Facts, Loading, Problem } from '../ui.tsx'
import { useLoaded, useStill } from '../use-data.ts'
import { jumps } from './clock-bar.tsx'
import { Feed } from './feed.tsx'
import { ENDS, OUTCOMES, wordsOf } from './payment-words.ts'
import { CLASSES, waitingText } from './requests.tsx'
import { Start } from './start.tsx'
import { UseInbox } from './webhook.tsx'

type Summary = Response<'readSummary'>

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const Tiles = ({ summary }: { summary: Summary }) => {
  const tiles = Object.entries(OUTCOMES).map(([name, { tone, title }]) => {
    const { count, rupees } = summary[name as keyof typeof OUTCOMES]
    return { name, tone, title, count, text: rupeesText(rupees) }
  })
  // The longest amount still fits into its tile.
  const length = Math.max(...tiles.map(({ text }) => text.length))
  return (
    <ul class="cards tiles" style={{ '--length': length }}>
      {tiles.map(({ name, tone, title, count, text }) => (
        <li key={name} class="card">
          <a href={`#/payments?outcome=${name}`}>
            <span class={`shape ${tone}`}>{title}</span> <b>{text}</b> {countText(count, 'payment')}
          </a>
        </li>
      ))}
    </ul>
  )
}

function useBuckets({ from, bucket_ms: size }: { from: string; bucket_ms: number }, count: number) {
  const { wallOf } = useTimes()
  const start = Date.parse(from)
  const walls = Array.from({ length: count + 1 }, (_, i) => wallOf(isoOf(start + i * size)))
  const ofEnd = ({ day, time }: (typeof walls)[number]) => (size < DAY_MS ? time : day)
  const short = (wall: (typeof walls)[number]) =>
    size < MINUTE_MS ? wall.time : size < DAY_MS ? wall.time.slice(0, 5) : wall.day.slice(2)
  return {
    // Marks at round times of where the times are shown.
    first: Math.round(Date.parse(`${walls[0]!.day}T${walls[0]!.time}Z`) / size),
    ticks: walls.map(short),
    areDays: size < DAY_MS && walls[0]!.day !== walls.at(-2)!.day,
    names: walls.slice(0, -1).map((one, i) => `${one.day} ${one.time} to ${ofEnd(walls[i + 1]!)}`),
    /** The query of a bucket, for lists; its end is the start of the next one. */
    queryOf: (i: number) =>
      `since=${isoOf(start + i * size)}&until=${isoOf(start + (i + 1) * size - 1)}`,
  }
}

type Series = NonNullable<Summary['series']>

/** Calls that failed, each stretch in neighbouring buckets, and jumps of the clock. */
function marksOf({ from, bucket_ms: size, outages }: Series): Mark[] {
  const marks = outages.flatMap((some, first): Mark[] => {
    if (some === 0 || outages[first - 1]) return []
    const end = outages.indexOf(0, first)
    const calls = outages.slice(first, end < 0 ? undefined : end)
    const count = sumOf(calls)
    const word = count < 3 ? '5xx' : 'outage'
    const more = `${countText(count, 'call')} got 5xx or nothing`
    return [{ first, last: first + calls.length - 1, word, tone: 'bad', more }]
  })
  const bucketOf = (at: number) => Math.floor((at - Date.parse(from)) / size)
  for (const jump of jumps) {
    const word = `jump of ${spanText(jump.to - jump.from)}`
    const mark = { first: bucketOf(jump.from), last: bucketOf(jump.to), word, tone: 'link' }
    // A reset sets the clock back.
    if (mark.first >= 0 && mark.last < outages.length) marks.push(mark)
  }
  return marks.sort((a, b) => a.first - b.first)
}

const stackOf = (outcome: (typeof ENDS)[number], counts: readonly number[]) => {
  const { verb: name, tone } = OUTCOMES[outcome]
  return { name, tone, counts }
}

function OverTime({ series }: { series: Series }) {
  const { counts, settled, failed, bucket_ms } = series
  const { queryOf, ...buckets } = useBuckets(series, settled.length)
  // What a jump did may be shown before the jump has ended.
  useWatched(window, 'jump', () => jumps.length)
  return (
    <Plot
      label={`Payments per ${spanText(bucket_ms)}`}
      unit="when"
      {...buckets}
      marks={marksOf(series)}
      endsNow
      stacks={ENDS.map((name) => stackOf(name, counts[name]))}
      more={settled.map(
        (one, i) => `${rupeesText(one)} settled, ${rupeesText(failed[i]!)} failed or came back`,
      )}
      hrefOf={(i) => `#/payments?outcome=done&${queryOf(i)}`}
    />
  )
}

type SpansProps = Pick<PlotProps, 'label' | 'unit' | 'stacks' | 'more'> & {
  bounds_ms: readonly number[]
  hrefOf: (from: number, to: number | undefined) => string
}

/** A plot of payments by spans of time, of which it has those between the shortest and the longest of any of them. */
function Spans({ bounds_ms, stacks, more, hrefOf, ...props }: SpansProps) {
  const isUsed = (_: unknown, i: number) => stacks.some(({ counts }) => counts[i]! > 0)
  const bounds = [0, ...bounds_ms]
  const [low, high] = [bounds.findIndex(isUsed), bounds.findLastIndex(isUsed) + 1]
  const used = bounds.slice(low, high)
  const endOf = (i: number) => bounds[low + i + 1]
  const nameOf = (from: number, i: number) => {
    const to = endOf(i)
    if (to === undefined) return `${spanText(from)} or more`
    return from === 0 ? `less than ${spanText(to)}` : `${spanText(from)} to ${spanText(to)}`
  }
  return (
    <Plot
      {...props}
      names={used.map(nameOf)}
      ticks={used.map((from) => (from === 0 ? '0' : spanText(from)))}
      stacks={stacks.map((one) => ({ ...one, counts: one.counts.slice(low, high) }))}
      {...(more && { more: more.slice(low, high) })}
      hrefOf={(i) => hrefOf(used[i]!, endOf(i))}
    />
  )
}

function ToCome({ bounds_ms, to_come: { rupees, counts } }: Summary['spans']) {
  if (counts.every((count) => count === 0)) return null
  return (
    <Card title="Still to come">
      <Spans
        label="Payments by the time until they settle"
        unit="in"
        bounds_ms={bounds_ms}
        stacks={[{ name: 'to settle', tone: 'open', counts }]}
        more={rupees.map((one) => rupeesText(one))}
        hrefOf={(from, to) => `#/payments?outcome=in_flight&took=${from}-${to ?? ''}`}
      />
    </Card>
  )
}

function HowLong(spans: Summary['spans']) {
  const known = ENDS.flatMap((name) => (spans[name] ? [{ name, ...spans[name] }] : []))
  if (known.length === 0) return null
  return (
    <Card title="From created to done">
      <ul class="list">
        {known.map(({ name, p50_ms, p95_ms }) => (
          <li key={name}>
            <span class={`shape ${OUTCOMES[name].tone}`}>{OUTCOMES[name].title}</span>
            <span>
              half in <b>{spanText(p50_ms)}</b>, 95 % in <b>{spanText(p95_ms)}</b>
            </span>
          </li>
        ))}
      </ul>
      <Spans
        label="Payments by the time they took"
        unit="took"
        bounds_ms={spans.bounds_ms}
        stacks={known.map(({ name, counts }) => stackOf(name, counts))}
        hrefOf={(from, to) => `#/payments?outcome=done&took=${from}-${to ?? ''}`}
      />
    </Card>
  )
}

const WhyFailed = ({ failed, came_back: back }: Pick<Summary, 'failed' | 'came_back'>) => {
  const bars = Object.entries({ failed, came_back: back }).flatMap(([outcome, { reasons }]) =>
    Object.entries(reasons).map(([reason, count]) => ({
      name: wordsOf(reason),
      count,
      tone: OUTCOMES[outcome as 'failed'].tone,
      href: `#/payments?outcome=${outcome}&search=${reason}`,
    })),
  )
  if (bars.length === 0) return null
  return (
    <Card title="Why payments failed or came back">
      <Bars label="Payments by reason" bars={bars.sort((a, b) => b.count - a.count)} />
    </Card>
  )
}

function Stuck({ stuck, now }: { stuck: Summary['stuck']; now: string }) {
  const { value, props } = useStill(stuck)
  const { count, rupees, payments } = value
  return (
    <Card
      title="Stuck now"
      beside={
        <span class={count === 0 ? 'chip' : 'chip open'}>
          {count === 0 ? 'None' : `${countText(count, 'payment')}, ${rupeesText(rupees)}`}
        </span>
      }
    >
      <ul class="list happened" {...props}>
        {payments.map(({ transaction_id: id, rupees, to, status, since, overdue }) => (
          <li key={id}>
            <a href={`#/payments/${id}`}>
              <span class="shape open" />
              <b>{rupeesText(rupees)}</b> to {to}
            </a>
            <span class="hint">
              {status.toLowerCase()} for {spanText(Date.parse(now) - Date.parse(since))},{' '}
              {overdue ? 'its next step is overdue' : 'no step is planned'}
            </span>
          </li>
        ))}
      </ul>
      {count > payments.length && <p class="hint">and {count - payments.length} more</p>}
    </Card>
  )
}

const YourWebhook = ({ counts }: { counts: Summary['deliveries'] }) => (
  <Card title="Your webhook" beside={<a href="#/deliveries">Deliveries</a>}>
    {useClient().webhook_url === null && (
      <>
        <p>None is set, so events are recorded, not sent.</p>
        <UseInbox />
      </>
    )}
    <Facts
      facts={{ Waiting: counts.waiting, Failed: counts.failed, 'Not sent': counts.not_sent }}
    />
    <Bars
      label="Events by the try that was accepted"
      bars={counts.tries.map((count, i) => ({
        name: `Accepted at the ${ordinalWord(i + 1)} try`,
        count,
        tone: i === 0 ? 'good' : 'open',
        href: `#/deliveries?status=delivered${i === 0 ? '' : '&tried=again'}`,
      }))}
    />
  </Card>
)

const YourCalls = ({ waiting, counts }: { waiting: number; counts: Summary['calls'] }) => (
  <Card title="Your calls" beside={<a href="#/requests">Requests</a>}>
    {counts.all === 0 && <p class="empty">None from your code yet.</p>}
    <Facts
      facts={{
        'In the log': counts.all,
        Rejected: counts.refused,
        'Answered by a rule': counts.by_rule,
      }}
    />
    <Bars
      label="Calls by class of status"
      bars={Object.entries(CLASSES).flatMap(([of, [status, name, tone]]) => {
        const count = counts.by_class[of]
        return count ? [{ name, count, tone, href: `#/requests?status=${status}` }] : []
      })}
    />
    {waiting > 0 && <p>{waitingText(waiting)}</p>}
  </Card>
)

/** A share in percent: 99.96 % is not all. */
const percentText = (share: number) =>
  `${(share === 1 ? 100 : Math.min(99.9, share * 100)).toFixed(1)} %`

export function Overview() {
  const client = useClient()
  const { data, problem } = useLoaded(callOf('readSummary'))
  const series = data?.series
  const { success_rate: rate = null, median_to_success_ms: median = null } = data ?? {}
  return (
    <>
      <div class="bar top">
        <h2>Overview</h2>
        <p class="hint">
          {series && (
            <>
              since <At short at={series.from} /> on the sandbox clock,{' '}
            </>
          )}
          scenario{' '}
          <a href={`#/scenarios/${client.scenario}`}>
            {client.scenario === 'inline' ? 'of your own' : client.scenario}
          </a>
        </p>
        {series && (
          <span class="primary">
            <a class="button" href="#/payments?make=yes">
              Make a payment
            </a>
          </span>
        )}
      </div>
      <Problem text={problem} />
      {!data && problem === undefined && <Loading />}
      {data && series && <Tiles summary={data} />}
      {data && !series && <Start />}
      {data && series && (
        <div class="alive">
          <div>
            <Card
              title={`Payments per ${spanText(series.bucket_ms)}`}
              beside={
                <>
                  <span>
                    Success rate <b>{rate === null ? 'unknown yet' : percentText(rate)}</b>
                  </span>
                  <span>
                    Median to success <b>{median === null ? 'unknown yet' : spanText(median)}</b>
                  </span>
                </>
              }
            >
              <OverTime series={series} />
            </Card>
            <Feed />
          </div>
          <div>
            <Stuck stuck={data.stuck} now={client.clock.now} />
            <YourWebhook counts={data.deliveries} />
            <YourCalls waiting={client.counts.waiting} counts={data.calls} />
            <WhyFailed {...data} />
            <HowLong {...data.spans} />
            <ToCome {...data.spans} />
          </div>
        </div>
      )}
    </>
  )
}
