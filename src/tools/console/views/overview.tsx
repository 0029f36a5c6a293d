import { callOf, type Response } from '../api.ts'
import { useClient } from '../client.ts'
import { countText, rupeesText, spanText } from '../format.ts'
import { At } from '../settings.tsx'
import { Card, Facts, Loading, Problem } from '../ui.tsx'
import { PACE_MS, useLoaded, useStill } from '../use-data.ts'
import { Feed } from './feed.tsx'
import { wordsOf } from './payment-words.ts'
import { OUTCOMES } from './payments.tsx'
import { waitingText } from './requests.tsx'
import { Start } from './start.tsx'
import { UseInbox } from './webhook.tsx'

type Summary = Response<'readSummary'>

const TONES = { settled: 'good', in_flight: 'open', failed: 'bad', came_back: 'came' } as const
const OUTCOME_NAMES = Object.keys(OUTCOMES) as (keyof typeof OUTCOMES)[]
const toneOf = (tone: string) => ({ '--tone': `var(--${tone})` })

const Tiles = ({ summary }: { summary: Summary }) => (
  <ul class="cards tiles">
    {OUTCOME_NAMES.map((name) => {
      const { count, rupees, reasons } = { reasons: {}, ...summary[name] }
      return (
        <li key={name} class="card">
          <a href={`#/payments?outcome=${name}`}>
            <span class={`shape ${TONES[name]}`}>{OUTCOMES[name]}</span> <b>{rupeesText(rupees)}</b>{' '}
            {countText(count, 'payment')}
          </a>
          <span class="hint">
            {Object.entries(reasons)
              .map(([reason, some]) => `${wordsOf(reason)} ${some}`)
              .join(', ')}
          </span>
        </li>
      )
    })}
  </ul>
)

/** Rupees over the client's time: settled as a line in steps, what failed or came back as bars. */
function Curve({
  series: { from, bucket_ms, settled, failed },
}: {
  series: NonNullable<Summary['series']>
}) {
  const most = Math.max(1, ...[...settled, ...failed].map(Number))
  const yOf = (rupees: string) => 100 - (Number(rupees) / most) * 100
  const spans = (all: readonly string[]) => all.filter((one) => Number(one) > 0).length
  return (
    <>
      <svg
        class="curve"
        role="img"
        aria-label={`Payments settled in ${spans(settled)} of ${settled.length} spans of ${spanText(bucket_ms)}, and failed or came back in ${spans(failed)}.`}
        viewBox={`0 0 ${settled.length} 100`}
        preserveAspectRatio="none"
      >
        <path d={`M0 100${settled.map((one, i) => `V${yOf(one)}H${i + 1}`).join('')}V100Z`} />
        {failed.map((one, i) => (
          <rect key={i} x={i + 0.3} width={0.4} y={yOf(one)} height={100 - yOf(one)} />
        ))}
      </svg>
      <p class="hint bar apart">
        <At at={from} />
        <span>
          top {rupeesText(most.toFixed(2))} in {spanText(bucket_ms)}; line: settled; bars: failed or
          came back
        </span>
        <span>now</span>
      </p>
    </>
  )
}

function Stuck({ stuck, now }: { stuck: Summary['stuck']; now: string }) {
  const { value, props } = useStill(stuck)
  const { count, rupees, payments } = value
  return (
    <Card title="Stuck now">
      <p>{count === 0 ? 'None' : `${countText(count, 'payment')}, ${rupeesText(rupees)}`}</p>
      <ul class="list happened" {...props}>
        {payments.map(({ transaction_id: id, rupees, to, status, since, overdue }) => (
          <li key={id} style={toneOf('open')}>
            <a href={`#/payments/${id}`}>
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
  <Card title="Your webhook">
    {useClient().webhook_url === null && (
      <>
        <p>None is set, so events are recorded, not sent.</p>
        <UseInbox />
      </>
    )}
    <Facts
      facts={{
        'At the first try': counts.first_attempt,
        'With a retry': counts.with_retry,
        Waiting: counts.waiting,
        Failed: counts.failed,
        'Not sent': counts.not_sent,
      }}
    />
    <a href="#/deliveries">Deliveries</a>
  </Card>
)

const YourCalls = ({ waiting, counts }: { waiting: number; counts: Summary['calls'] }) => (
  <Card title="Your calls">
    <Facts
      facts={{
        'In the log': counts.all,
        Rejected: counts.refused,
        'Answered by a rule': counts.by_rule,
      }}
    />
    {waiting > 0 && <p>{waitingText(waiting)}</p>}
    <a href="#/requests">Requests</a>
  </Card>
)

/** A share in percent: 99.96 % is not all. */
const percentText = (share: number) =>
  `${(share === 1 ? 100 : Math.min(99.9, share * 100)).toFixed(1)} %`

export function Overview() {
  const client = useClient()
  const { data, problem } = useLoaded(callOf('readSummary'), PACE_MS)
  const series = data?.series
  const { success_rate: rate = null, median_to_success_ms: median = null } = data ?? {}
  return (
    <>
      <div class="bar top">
        <h2>Overview</h2>
        <p class="hint">
          Scenario{' '}
          <a href={`#/scenarios/${client.scenario}`}>
            {client.scenario === 'inline' ? 'of your own' : client.scenario}
          </a>
          {series && ', payments you’ve made'}
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
      {data && (
        <div class="alive">
          {series ? (
            <div>
              <Card title="Rupees over time">
                <p class="bar apart">
                  <span>
                    Success rate <b>{rate === null ? 'unknown yet' : percentText(rate)}</b>
                  </span>
                  <span>
                    Median to success <b>{median === null ? 'unknown yet' : spanText(median)}</b>
                  </span>
                </p>
                <Curve series={series} />
              </Card>
              <Feed />
            </div>
          ) : (
            <Start />
          )}
          <div>
            {series && <Stuck stuck={data.stuck} now={client.clock.now} />}
            <YourWebhook counts={data.deliveries} />
            <YourCalls waiting={client.counts.waiting} counts={data.calls} />
          </div>
        </div>
      )}
    </>
  )
}
