import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { ResponseBody } from '../../../admin/caller.ts'
import { Act } from '../act.tsx'
import { callOf, type ShortRequest } from '../api.ts'
import { useClient } from '../client.ts'
import { Choice } from '../fields.tsx'
import { countText } from '../format.ts'
import { At } from '../settings.tsx'
import { Card, paymentText } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { useFound } from './make-payment.tsx'
import { ALL, KYC, type Lane, nextOf, TROUBLES, type Trouble } from './troubles.ts'

// Rules that this view has pushed have names that begin so.
const MARK = 'trouble: '
type Rule = ResponseBody<'listRules'>['rules'][number]
const titleOf = (name: unknown) =>
  typeof name === 'string' && name.startsWith(MARK) ? name.slice(MARK.length) : undefined

/** The trouble that was armed: rules, and a scenario that extends another. */
export function useArmed() {
  const { data } = useLoaded(callOf('listRules'))
  const { data: scenario } = useLoaded(callOf('getScenario'))
  return useMemo(() => {
    const pushed = data?.rules ?? []
    const rules = pushed.filter(({ definition }) => titleOf(definition['name']))
    const isExtended = titleOf(scenario?.definition?.['title']) !== undefined
    return {
      pushed,
      rules,
      scenario: isExtended ? scenario : undefined,
      active: scenario?.name,
      waiting: rules.filter(({ used_up }) => !used_up).length + (isExtended ? 1 : 0),
    }
  }, [data, scenario])
}

export type Armed = ReturnType<typeof useArmed>

/** The call that arms a trouble. */
export const armCall = (trouble: Trouble, option: string, active: string) => {
  const name = `${MARK}${trouble.title}`
  return 'rule' in trouble
    ? callOf('pushRule', { body: { name, ...trouble.rule(option) } })
    : callOf('setScenario', {
        body: { definition: { title: name, extends: active, webhooks: trouble.webhooks(option) } },
      })
}

// ---- the cards

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

const Drawing = ({ lanes }: { lanes: readonly Lane[] }) => (
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
          {/* From below the word of the lane before. */}
          {first > 0 && <path d={`M${LEFT} ${y - ROW + 26}V${y}H${LEFT + first * STEP}`} />}
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

function TroubleCard({ trouble, active }: { trouble: Trouble; active: string | undefined }) {
  const [picked, setPicked] = useState<string>()
  const options = trouble.options.map(([value]) => value)
  const chosen = options.find((value) => value === picked) ?? options[0] ?? ''
  return (
    <Card title={trouble.title}>
      <p class="hint">{trouble.text}</p>
      <Drawing lanes={trouble.lanes} />
      <div class="row">
        <Choice label={trouble.label} value={chosen} values={trouble.options} onInput={setPicked} />
        <Act
          label="Arm"
          name={trouble.title}
          disabled={active === undefined || chosen === ''}
          call={armCall(trouble, chosen, active ?? 'default')}
          effect={`Armed: ${trouble.title}.`}
          // What is armed stands above the cards.
          onDone={() => scrollTo(0, 0)}
        />
      </div>
    </Card>
  )
}

const Banner = ({ isHit, children }: { isHit: boolean; children: ComponentChildren }) => (
  <div class={isHit ? 'card bar banner good' : 'card bar banner'} role="status">
    {children}
  </div>
)

function ofPerson({ definition }: Rule, people: readonly (readonly [string, string])[]): string {
  const { body } = definition['when'] as { body?: { user_id?: string } }
  const id = body?.user_id
  return id === undefined ? '' : ` (${people.find(([one]) => one === id)?.[1] ?? id})`
}

const LastHit = ({ call }: { call: ShortRequest }) => (
  <>
    {call.method} {call.path} at <At short at={call.at} />
    {call.amount !== null && `, ${paymentText(call)}`}.
  </>
)

function ArmedRule({ rule, of }: { rule: Rule; of: string }) {
  const { rule_id, hits, used_up, definition } = rule
  const title = titleOf(definition['name'])!
  const trouble = ALL.find((one) => one.title === title)
  const { operation, headers } = definition['when'] as { operation: string; headers?: object }
  const query = { rule: `rule:${rule_id}: `, limit: 1 }
  const { data: log } = useLoaded(callOf('listRequests', { query }))
  const [last] = log?.requests ?? []
  const isHit = hits > 0
  const other = headers ? ' Calls of the scenario don’t use it up.' : ''
  const waits = `Waits for ${trouble?.waits(operation) ?? nextOf(operation)}${of}.${other}`
  return (
    <Banner isHit={isHit}>
      <p>
        <b>
          {isHit ? `Hit${hits > 1 ? ` ${hits} times` : ''}` : used_up ? 'Over' : 'Armed'}:{' '}
          {isHit && last ? <LastHit call={last} /> : `${title}.`}
        </b>{' '}
        {isHit ? trouble?.hit : used_up ? 'No call met it.' : waits}
      </p>
      {!isHit && !used_up && operation === 'createTransaction' && (
        <a href="#/payments?make=yes">Make a payment that hits it</a>
      )}
      {isHit && last && <a href={`#/requests/${last.request_id}`}>See the call</a>}
      {isHit && used_up && trouble && (
        <Act
          label="Arm again"
          name={title}
          call={callOf('pushRule', { body: definition })}
          effect={`Armed: ${title}.`}
        />
      )}
      <Act
        label={used_up ? 'Close' : isHit ? 'End it' : 'Undo'}
        name={title}
        call={callOf('deleteRule', { params: { id: rule_id } })}
        effect={`${title}: removed.`}
      />
    </Banner>
  )
}

export function MakeTrouble({ armed: { pushed, rules, scenario, active } }: { armed: Armed }) {
  const hasWebhook = useClient().webhook_url !== null
  const options = useFound('').users.map(({ user_id, email }) => [user_id, email] as const)
  const hits = scenario?.webhooks.reduce((sum, one) => sum + one.hits, 0) ?? 0
  const former = String(scenario?.definition?.['extends'] ?? 'default')
  return (
    <>
      <h2>Make trouble</h2>
      <p class="hint">
        One click arms it. It waits for your code, not for the scenario’s own calls, and says what
        it did.
      </p>
      {rules.map((rule) => (
        <ArmedRule key={rule.rule_id} rule={rule} of={ofPerson(rule, options)} />
      ))}
      {scenario && (
        <Banner isHit={hits > 0}>
          <p>
            <b>
              {hits > 0
                ? `Hit: ${countText(hits, 'event')}.`
                : `Armed: ${titleOf(scenario.title)}.`}
            </b>{' '}
            It lasts until you undo it.{' '}
            {!hasWebhook && (
              <>
                No webhook is set, so no event is sent: <a href="#/inbox">use the inbox</a>.
              </>
            )}
          </p>
          <Act
            label="Undo"
            name={titleOf(scenario.title)!}
            call={callOf('setScenario', { body: { name: former } })}
            effect={`The scenario ${former} is active again.`}
          />
        </Banner>
      )}
      <div class="cards troubles" style={{ '--least': '19rem' }}>
        {TROUBLES.map((trouble) => (
          <TroubleCard
            key={trouble.title}
            trouble={trouble}
            // A scenario of this view is replaced, not extended.
            active={scenario ? former : active}
          />
        ))}
        <TroubleCard trouble={{ ...KYC, options }} active={active} />
      </div>
      <Card title="Pushed rules" wide>
        <p class="hint">
          They come before the active scenario. For trouble of another kind,{' '}
          <a href="#/scenarios">write a scenario</a> that extends it.
        </p>
        <ul class="list">
          {pushed.map(({ rule_id, hits, definition }) => (
            <li key={rule_id}>
              <code>{JSON.stringify(definition)}</code>
              <span class="hint">hits: {hits}</span>
              <Act
                label="Delete"
                name={rule_id}
                call={callOf('deleteRule', { params: { id: rule_id } })}
              />
            </li>
          ))}
        </ul>
      </Card>
    </>
  )
}
