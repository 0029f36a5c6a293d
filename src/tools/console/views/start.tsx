import { Act } from '../act.tsx'
import { BASE, callOf, curlOfCall, send, type User } from '../api.ts'
import { useClient } from '../client.ts'
import { rupeesText } from '../format.ts'
import { openMade, SERVICE_ROOT, serviceCall } from '../service.ts'
import { Card, Copy, Problem } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { nameOf } from './users.tsx'
import { UseInbox } from './webhook.tsx'

const AMOUNT = '1500.50'
const VERIFIED = callOf('readUsers', { query: { kyc: 'success', bank: 'success', limit: 100 } })

const Line = ({ name, text }: { name: string; text: string }) => (
  <>
    <h3>{name}</h3>
    <div class="bar wrapped">
      <pre>{text}</pre> <Copy text={text} label={`Copy: ${name}`} />
    </div>
  </>
)

type People = Record<'payer' | 'receiver', User>

const firstCall = ({ payer, receiver }: People) =>
  serviceCall('createTransaction', {
    from_user_id: payer.user_id,
    to_user_id: receiver.user_id,
    benif_bank_id: receiver.bank_accounts[0]!.bank_id,
    amount: Number(AMOUNT),
  })

function FirstPayment({ payer, receiver }: People) {
  return (
    <>
      <h3>Or let this page make it</h3>
      <p>
        {nameOf(payer)} pays {nameOf(receiver)} {rupeesText(AMOUNT)}, and you land on the timeline
        of the payment.
      </p>
      <span class="primary">
        <Act
          label="Make a first payment"
          call={firstCall({ payer, receiver })}
          effect="The payment is made."
          onDone={openMade('createTransaction')}
        />
      </span>
    </>
  )
}

/** What a sandbox can do that a service can't. */
const WhatItCan = () => (
  <div class="cards" style={{ '--least': '17rem' }}>
    <Card title="See what your code would be told">
      <p>
        {useClient().webhook_url === null
          ? 'No webhook is set. The inbox takes each event and checks its signature.'
          : 'Your webhook gets each event, and Deliveries says what it answered.'}
      </p>
      <div class="bar">
        <UseInbox /> <a href="#/deliveries">Set my own URL</a>
      </div>
    </Card>
    <Card title="Watch a busy day">
      <p>Users, salaries, refunds, failures, one outage. A minute passes each second.</p>
      <div class="bar">
        <Act
          label="Start the live demo"
          call={callOf('setScenario', { body: { name: 'live-demo' } })}
          effect="The scenario live-demo is active."
          onDone={() =>
            void send(callOf('advanceClock', { body: { by: '2h' } }), 'Advance').then(() =>
              send(callOf('setClockSpeed', { body: { factor: 60 } }), 'Speed'),
            )
          }
        />{' '}
        <a href="#/scenarios">All scenarios</a>
      </div>
    </Card>
    <Card title="Make something fail">
      <p>A lost response, a bank outage, money that comes back tomorrow: one click each.</p>
      <div class="bar">
        <a class="button" href="#/trouble">
          Make trouble
        </a>
      </div>
    </Card>
  </div>
)

export function Start() {
  const { data, problem } = useLoaded(VERIFIED)
  const isReady = ({ bank_accounts: accounts }: User) =>
    accounts.every(({ bank_status }) => bank_status === 'success')
  const [payer, receiver] = data?.users.filter(isReady) ?? []
  return (
    <>
      <Card title="A payout API on your machine. It moves no money." wide>
        <div class="cards">
          <div>
            <p>
              Point your code at the base URL. Users, checks, accounts, payments and webhooks behave
              as at the service, on a clock that you control.
            </p>
            <Line name="Base URL" text={`${location.origin}${BASE}${SERVICE_ROOT}`} />
            <Line name="Access token" text={useClient().access_token} />
          </div>
          <div>
            <Problem text={problem} />
            {data && !receiver && (
              <p>
                A payment needs two <a href="#/users">users</a> with verified documents and
                accounts.
              </p>
            )}
            {payer && receiver && <FirstPayment payer={payer} receiver={receiver} />}
          </div>
        </div>
        {payer && receiver && (
          <Line name="Your first call" text={curlOfCall(firstCall({ payer, receiver }))} />
        )}
      </Card>
      <WhatItCan />
    </>
  )
}
