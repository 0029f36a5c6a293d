// Forms that make something, except a payment: each sends the call of the service that an integration sends.
import { Act } from '../act.tsx'
import { callOf } from '../api.ts'
import { useClient } from '../client.ts'
import { Choice, Fold, Form, Input, useFields } from '../fields.tsx'
import { openMade, serviceCall } from '../service.ts'
import { Facts, Problem } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'

function Values({ of }: { of: string }) {
  const { data, problem } = useLoaded(callOf('listMagicValues'))
  const own = data?.magic_values.filter(({ operation }) => operation === of) ?? []
  return (
    <>
      <p class="hint">They apply where no rule of the active scenario matches.</p>
      <Problem text={problem} />
      <Facts
        facts={Object.fromEntries(
          own.map(({ where, value, outcome }) => [`${where} ${value}`, outcome]),
        )}
      />
    </>
  )
}

export const MagicValues = ({ of }: { of: string }) => (
  <Fold title="Values that decide what happens">
    <Values of={of} />
  </Fold>
)

export function MakeUser() {
  const { fields, field } = useFields({ email: '', mobile: '', type: 'individual' })
  const number = useClient().counts.users + 1
  // With one click: an e-mail and a mobile that no user of the fixtures has.
  const email = fields.email || `user${number}@example.com`
  const mobile = fields.mobile || `93${String(number).padStart(8, '0')}`
  return (
    <Fold title="Make a user">
      <Form>
        <Input label="E-mail" name="email" {...field('email')} placeholder={email} />
        <Input label="Mobile" name="mobile" {...field('mobile')} placeholder={mobile} />
        <Choice label="Type" {...field('type')} values={['individual', 'business']} />
        <Act
          submit
          label="Make the user"
          call={serviceCall('createUser', { email, mobile, user_type: fields.type })}
          onDone={openMade('createUser')}
        />
      </Form>
    </Fold>
  )
}

export function AddAccount({ userId }: { userId: string }) {
  const { fields, field } = useFields({ number: '123456789012', ifsc: 'HDFC0000001' })
  return (
    <Fold title="Add an account">
      <Form>
        <Input label="Account number" name="account_number" {...field('number')} />
        <Input label="IFSC" name="ifsc_code" {...field('ifsc')} />
        <Act
          submit
          label="Add the account"
          call={serviceCall('addBankAccount', {
            user_id: userId,
            account_number: fields.number,
            ifsc_code: fields.ifsc,
          })}
        />
      </Form>
      <MagicValues of="addBankAccount" />
    </Fold>
  )
}

const DOCUMENTS = {
  pan: { type: 'tid', number: 'ABCPE1234F' },
  aadhar: { type: 'pid', number: '234123412346' },
} as const

export function SubmitKyc({ userId }: { userId: string }) {
  const { fields, field } = useFields({
    document: 'pan',
    number: '',
    name: 'Asha Rao',
    birth: '01-02-1990',
  })
  const document = fields.document as keyof typeof DOCUMENTS
  const { type, number } = DOCUMENTS[document]
  return (
    <Fold title="Submit a document">
      <Form>
        <Choice label="Document" values={Object.keys(DOCUMENTS)} {...field('document')} />
        <Input label="Number" name="document_number" {...field('number')} placeholder={number} />
        <Input label="Name" name="nameOnCard" {...field('name')} />
        <Input label="Date of birth (DD-MM-YYYY)" name="dateOfBirth" {...field('birth')} />
        <Act
          submit
          label="Submit the document"
          call={serviceCall('submitKyc', {
            user_id: userId,
            kyc: [
              {
                document_type: type,
                document_name: document,
                document_number: fields.number || number,
                dateOfBirth: fields.birth,
                Nationality: 'Indian',
                nameOnCard: fields.name,
              },
            ],
          })}
        />
      </Form>
      <MagicValues of="submitKyc" />
    </Fold>
  )
}
