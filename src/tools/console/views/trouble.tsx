import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ResponseBody } from '../../../admin/contract.ts'
import { Act } from '../act.tsx'
import { callOf, type ShortRequest, type User } from '../api.ts'
import { Choice } from '../fields.tsx'
import { countText } from '../format.ts'
import { At } from '../settings.tsx'
import { Card, paymentText } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { Drawing, type Lane } from './drawing.tsx'
import { RuleForm } from './rule-form.tsx'

/** One kind of trouble: what it does in words and as a drawing, and how it is armed. */
type Trouble = {
  title: string
  text: string
  lanes: readonly Lane[]
  label: string
  options: readonly (readonly [value: string, text: string])[]
  /** What it waits for. */
  waits: (option: string) => string
  /** What happened when it hit. */
  hit: string
} & (
  | { rule: (option: string) => object }
  // Webhook rules are part of a scenario: they extend the active one.
  | { webhooks: (option: string) => object[] }
)

const OPERATIONS = [
  ['createTransaction', 'next POST /transaction'],
  ['createUser', 'next POST /user'],
  ['submitKyc', 'next POST /kyc'],
  ['addBankAccount', 'next POST /bank'],
] as const
const nextOf = (option: string) =>
  OPERATIONS.find(([id]) => id === option)?.[1].replace('next', 'your next') ?? option
const PENDING = { status: 'PENDING' }
const PROCESSING = { status: 'PROCESSING', after: '1s' }
const payment = (...steps: object[]) => ({ transaction: [PENDING, ...steps] })
const nextPayment = () => 'your next POST /transaction'

const TROUBLES: readonly Trouble[] = [
  {
    title: 'Bank outage',
    text: 'Payments fail with “bank is offline” until it ends.',
    lanes: [['PENDING', '!FAILED', '|', 'SUCCESS']],
    label: 'How long',
    options: [
      ['30m', 'for 30 min'],
      ['2h', 'for 2 h'],
    ],
    waits: () => 'each POST /transaction while it lasts',
    hit: 'The payment fails: the bank is offline.',
    rule: (option) => ({
      when: { operation: 'createTransaction' },
      for: option,
      then: payment({ status: 'FAILED', after: '2s', reason: 'beneficiary_bank_offline' }),
    }),
  },
  {
    title: 'Lose the next response',
    text: 'The call is carried out, but the connection ends without a response.',
    lanes: [
      ['POST', '!no response'],
      ['', 'PENDING', 'SUCCESS'],
    ],
    label: 'Which call',
    options: OPERATIONS,
    waits: nextOf,
    hit: 'It was carried out, and your code got no response.',
    rule: (operation) => ({ when: { operation }, times: 1, then: { fault: 'reset', at: 'after' } }),
  },
  {
    title: '504 although paid',
    text: 'The gateway gives up; the money moves.',
    lanes: [
      ['POST', '!504'],
      ['', 'PENDING', 'SUCCESS'],
    ],
    label: 'Which call',
    options: OPERATIONS,
    waits: nextOf,
    hit: 'It was carried out, and your code was told 504.',
    rule: (operation) => ({
      when: { operation },
      times: 1,
      then: { respond: { status: 504 }, at: 'after' },
    }),
  },
  {
    title: 'Payment stuck',
    text: 'It never leaves PROCESSING. Nothing tells your code.',
    lanes: [['PENDING', 'PROCESSING', '…for ever']],
    label: 'Which payments',
    options: [
      ['1', 'the next payment'],
      ['100', 'the next 100 payments'],
    ],
    waits: nextPayment,
    hit: 'The payment stays in PROCESSING.',
    rule: (option) => ({
      when: { operation: 'createTransaction' },
      times: Number(option),
      then: payment(PROCESSING),
    }),
  },
  {
    title: 'Payment comes back',
    text: 'It succeeds; later the bank sends it back.',
    lanes: [['PENDING', 'SUCCESS', '~', '<FAILED']],
    label: 'When',
    options: [
      ['1d', 'tomorrow'],
      ['1h', 'after 1 h'],
    ],
    waits: nextPayment,
    hit: 'The payment succeeds, and comes back later.',
    rule: (after) => ({
      when: { operation: 'createTransaction' },
      times: 1,
      then: payment(
        PROCESSING,
        { status: 'SUCCESS', after: '2s' },
        { status: 'FAILED', after, reason: 'beneficiary_bank_rejected' },
      ),
    }),
  },
  {
    title: 'Events twice or out of order',
    text: 'Your webhook gets copies, or the success before the processing. It extends the active scenario, which restarts.',
    lanes: [['PENDING', 'SUCCESS', 'SUCCESS', 'PROCESSING']],
    label: 'How',
    options: [
      ['twice', 'twice'],
      ['order', 'out of order'],
    ],
    waits: () => 'the next events',
    hit: 'Your webhook got them that way.',
    webhooks: (option) => [
      option === 'twice'
        ? { when: { event: '*' }, then: { copies: 2 } }
        : {
            when: { event: 'transaction.processing' },
            then: { hold_until: 'transaction.success' },
          },
    ],
  },
]

const KYC: Trouble = {
  title: 'KYC fails for this person',
  text: 'The next check fails; then they cannot pay.',
  lanes: [['pending', '!failed', '…pays: 422']],
  label: 'Who',
  options: [],
  waits: () => 'their next POST /kyc',
  hit: 'The check failed.',
  rule: (user_id) => ({
    when: { operation: 'submitKyc', body: { user_id } },
    times: 1,
    then: { kyc: [{ status: 'failed' }] },
  }),
}

// Rules that this view has pushed have names that begin so.
const MARK = 'trouble: '
type Rule = ResponseBody<'listRules'>['rules'][number]
const titleOf = (name: unknown) =>
  typeof name === 'string' && name.startsWith(MARK) ? name.slice(MARK.length) : undefined

/** The trouble that was armed: rules, and a scenario that extends another. */
export function useArmed() {
  const { data, reload } = useLoaded(callOf('listRules'), ['scenario', 'request'])
  const { data: scenario, reload: reloadScenario } = useLoaded(callOf('getScenario'), [
    'scenario',
    'delivery',
  ])
  const rules = data?.rules.filter(({ definition }) => titleOf(definition['name'])) ?? []
  const isExtended = titleOf(scenario?.definition?.['title']) !== undefined
  const waiting = rules.filter(({ used_up }) => !used_up).length + (isExtended ? 1 : 0)
  const reloadAll = () => {
    void reload()
    void reloadScenario()
  }
  return {
    rules,
    scenario: isExtended ? scenario : undefined,
    active: scenario?.name,
    waiting,
    reload: reloadAll,
  }
}

const armCall = (trouble: Trouble, option: string, active: string) => {
  const name = `${MARK}${trouble.title}`
  return 'rule' in trouble
    ? callOf('pushRule', { body: { name, ...trouble.rule(option) } })
    : callOf('setScenario', {
        body: { definition: { title: name, extends: active, webhooks: trouble.webhooks(option) } },
      })
}

function TroubleCard({
  trouble,
  active,
  reload,
}: {
  trouble: Trouble
  active: string | undefined
  reload: () => void
}) {
  const [option, setOption] = useState(trouble.options[0]?.[0] ?? '')
  const chosen = trouble.options.some(([value]) => value === option)
    ? option
    : (trouble.options[0]?.[0] ?? '')
  return (
    <Card title={trouble.title}>
      <p class="hint">{trouble.text}</p>
      <Drawing lanes={trouble.lanes} />
      <div class="row">
        <Choice
          label={trouble.label}
          value={chosen}
          values={trouble.options}
          onChange={setOption}
        />
        <Act
          quiet
          label="Arm"
          name={trouble.title}
          disabled={active === undefined || chosen === ''}
          call={armCall(trouble, chosen, active ?? 'default')}
          effect={`Armed: ${trouble.title}.`}
          onDone={reload}
        />
      </div>
    </Card>
  )
}

const ALL = [...TROUBLES, KYC]
const troubleOf = (title: string | undefined) => ALL.find((one) => one.title === title)

const Banner = ({ isHit, children }: { isHit: boolean; children: ComponentChildren }) => (
  <div class={isHit ? 'banner hit' : 'banner'} role="status">
    {children}
  </div>
)

/** What became of a rule: it waits, or what it did to which call. */
function ArmedRule({
  rule: { rule_id, hits, used_up, definition },
  calls,
  reload,
}: {
  rule: Rule
  calls: readonly ShortRequest[]
  reload: () => void
}) {
  const title = titleOf(definition['name'])!
  const trouble = troubleOf(title)
  const { operation } = definition['when'] as { operation: string }
  const last = calls.find(({ rule }) => rule?.includes(String(definition['name'])))
  const remove = (label: string) => (
    <Act
      quiet
      label={label}
      name={title}
      call={callOf('deleteRule', { params: { id: rule_id } })}
      effect={`${title}: removed.`}
      onDone={reload}
    />
  )
  if (hits === 0)
    return (
      <Banner isHit={false}>
        <p>
          <b>Armed: {title}.</b> Waits for {trouble?.waits(operation) ?? nextOf(operation)}.
        </p>
        {remove('Undo')}
      </Banner>
    )
  return (
    <Banner isHit>
      <p>
        <b>
          Hit{hits > 1 && ` ${hits} times`}:{' '}
          {last ? (
            <>
              {last.method} {last.path} at <At short at={last.at} />
              {last.amount !== null && `, ${paymentText(last)}`}.
            </>
          ) : (
            `${title}.`
          )}
        </b>{' '}
        {trouble?.hit}
      </p>
      {last && <a href={`#/requests/${last.request_id}`}>See the call</a>}
      {used_up && trouble && (
        <Act
          quiet
          label="Arm again"
          name={title}
          call={callOf('pushRule', { body: definition })}
          effect={`Armed: ${title}.`}
          onDone={reload}
        />
      )}
      {remove(used_up ? 'Close' : 'End it')}
    </Banner>
  )
}

/** Everything that can go wrong, one click each. */
export function MakeTrouble({ hasWebhook }: { hasWebhook: boolean }) {
  const { rules, scenario, active, reload } = useArmed()
  const { data: log } = useLoaded(callOf('listRequests', { query: { limit: 100 } }), ['request'])
  const { data: people } = useLoaded(callOf('readUsers', { query: { limit: 100 } }), ['change'])
  const options = people?.users.map(({ user_id, email }: User) => [user_id, email] as const) ?? []
  const hits = scenario?.webhooks.reduce((sum, one) => sum + one.hits, 0) ?? 0
  const former = String(scenario?.definition?.['extends'] ?? 'default')
  return (
    <>
      <h2>Make trouble</h2>
      <p class="hint">One click arms it. It waits for your code, acts, and says what it did.</p>
      {rules.map((rule) => (
        <ArmedRule key={rule.rule_id} rule={rule} calls={log?.requests ?? []} reload={reload} />
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
            quiet
            label="Undo"
            name={titleOf(scenario.title)!}
            call={callOf('setScenario', { body: { name: former } })}
            effect={`The scenario ${former} is active again.`}
            onDone={reload}
          />
        </Banner>
      )}
      <div class="troubles">
        {TROUBLES.map((trouble) => (
          <TroubleCard
            key={trouble.title}
            trouble={trouble}
            // A scenario of this view is replaced, not extended.
            active={scenario ? former : active}
            reload={reload}
          />
        ))}
        <TroubleCard trouble={{ ...KYC, options }} active={active} reload={reload} />
        <Card title="Something of your own">
          <p class="hint">Start from a call that you made, or from a scenario.</p>
          <ul>
            <li>
              <a href="#/requests">From a request</a>
            </li>
            <li>
              <a href="#/scenarios">From a scenario</a>
            </li>
            <li>
              <a href="#/sweep">Try them all: sweep</a>
            </li>
          </ul>
        </Card>
      </div>
      <Card title="Write a rule" wide>
        <RuleForm onDone={reload} />
        <p class="hint">
          Rules that you push come before the active scenario; <a href="#/control">Control</a> lists
          them.
        </p>
      </Card>
    </>
  )
}
