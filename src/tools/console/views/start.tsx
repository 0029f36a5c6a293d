import { Act } from '../act.tsx'
import { BASE, callOf, curlOfCall, type User } from '../api.ts'
import { useClient } from '../client.ts'
import { Copy } from '../copy.tsx'
import { rupeesText } from '../format.ts'
import { openMade, SERVICE_ROOT, serviceCall } from '../service.ts'
import { Card, Problem } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'

const AMOUNT = '1500.50'
const VERIFIED = callOf('readUsers', { query: { kyc: 'success', bank: 'success', limit: 100 } })

const Line = ({ name, text }: { name: string; text: string }) => (
  <>
    <h3>{name}</h3>
    <p>
      <code>{text}</code> <Copy text={text} label={`Copy: ${name}`} />
    </p>
  </>
)

function FirstPayment({ payer, receiver }: Record<'payer' | 'receiver', User>) {
  const call = serviceCall('createTransaction', {
    from_user_id: payer.user_id,
    to_user_id: receiver.user_id,
    benif_bank_id: receiver.bank_accounts[0]!.bank_id,
    amount: Number(AMOUNT),
  })
  return (
    <>
      <Line name="Your first call" text={curlOfCall(call)} />
      <p>
        Or let this page send it: {payer.email} pays {receiver.email} {rupeesText(AMOUNT)}, and you
        land on the timeline of the payment.
      </p>
      <span class="primary">
        <Act
          label="Make a first payment"
          call={call}
          effect="The payment is made."
          onDone={openMade('createTransaction')}
        />
      </span>
    </>
  )
}

export function Start() {
  const { data, problem } = useLoaded(VERIFIED)
  const isReady = ({ bank_accounts: accounts }: User) =>
    accounts.every(({ bank_status }) => bank_status === 'success')
  const [payer, receiver] = data?.users.filter(isReady) ?? []
  return (
    <Card title="A payout API on your machine. It moves no money.">
      <p>
        Point your code at the base URL. Users, checks, accounts, payments and webhooks behave as at
        the service, on a clock that you control.
      </p>
      <Line name="Base URL" text={`${location.origin}${BASE}${SERVICE_ROOT}`} />
      <Line name="Access token" text={useClient().access_token} />
      <Problem text={problem} />
      {data && !receiver && (
        <p>
          A payment needs two <a href="#/users">users</a> with verified documents and accounts.
        </p>
      )}
      {payer && receiver && <FirstPayment payer={payer} receiver={receiver} />}
    </Card>
  )
}
