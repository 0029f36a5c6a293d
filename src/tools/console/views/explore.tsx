import { useState } from 'preact/hooks'
import type { ResponseBody } from '../../../admin/contract.ts'
import { Act } from '../act.tsx'
import { callOf } from '../api.ts'
import { Form, Input, useFields } from '../fields.tsx'
import { useUrlField } from '../route.ts'
import { Card, Chip, Facts, Text } from '../ui.tsx'

type Explored = ResponseBody<'exploreWebhooks'>
type Order = Explored['in_order']

const OneOrder = ({ title, order, more }: { title: string; order: Order; more?: string }) => (
  <Card title={title} wide>
    <ol>
      {order.sequence.map((event, i) => (
        <li key={i}>{event}</li>
      ))}
    </ol>
    <Facts
      facts={[
        ['Rejected by the receiver', order.rejected],
        ['Differs at', more],
      ]}
    />
    <Text label={`State: ${title}`} value={order.state} />
  </Card>
)

const Result = ({ orders_tried: count, in_order: inOrder, found, ignored }: Explored) => (
  <>
    <p role="status">
      <Chip state={found ? 'failed' : 'success'} />{' '}
      {found
        ? `Orders tried: ${count}. The last one has a different final state.`
        : `Orders tried: ${count}. All have the same final state.`}
      {ignored.length > 0 && ` Not compared, since they always differ: ${ignored.join(', ')}.`}
    </p>
    {found && (
      <OneOrder
        title="The shortest order with a different state"
        order={found}
        more={found.differs_at.join(', ')}
      />
    )}
    <OneOrder title="The original order" order={inOrder} />
  </>
)

/** Sends the events of a payment to the receiver in every order, and shows an order with a different final state. */
export function Explore() {
  const [id, setId] = useUrlField('transaction_id')
  const { fields, field } = useFields({ probe: '', max: '100' })
  const [result, setResult] = useState<Explored>()
  return (
    <>
      <h2>Event orders</h2>
      <p class="hint">
        Events can arrive twice and in any order. This sends those of one payment to your webhook in
        each order, as new payments. After each order it reads the state that your program stores,
        from a URL that contains <code>{'{transaction_id}'}</code>.
      </p>
      <Form>
        <Input label="Transaction id" value={id} onInput={setId} />
        <Input
          label="URL of the state"
          {...field('probe')}
          placeholder={`${location.protocol}//127.0.0.1:8080/state/{transaction_id}`}
        />
        <Input short label="Maximum orders" {...field('max')} />
        <Act
          submit
          label="Explore"
          disabled={id === '' || fields.probe === ''}
          call={callOf('exploreWebhooks', {
            body: { transaction_id: id, probe: fields.probe, max_orders: Number(fields.max) },
          })}
          onDone={setResult}
        />
      </Form>
      {result && <Result {...result} />}
    </>
  )
}
