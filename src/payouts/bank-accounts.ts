// payouts/: what the users of a client do: they get KYC and bank accounts, and make payments. Rows and their rules are
// here, and how the API shows them (views.ts); its URLs are in routes/v1/.

import { listOrder } from '../assumptions/lists.ts'
import { entryStatus } from '../assumptions/responses.ts'
import { refusedBankAccount, sameBankAccount } from '../assumptions/users.ts'
import {
  type AddBankAccount,
  type BankAccountRow,
  type BankMetadata,
  type BankStatus,
  holderNameOf,
} from '../model/bank-account.ts'
import { SandboxError } from '../model/errors.ts'
import { maskIfsc, maskNumber } from '../model/mask.ts'
import type { BankStep } from '../scenarios/compiled.ts'
import { listPage, visibleRows, WHOLE_LIST } from '../tables/list-page.ts'
import { accountKey } from '../tables/tables.ts'
import { fieldError, newIdIn, type WorldContext } from '../tables/world-context.ts'
import { createLifecycle } from './lifecycle.ts'
import type { Users } from './users.ts'

const DEFAULT_STEPS: readonly BankStep[] = [{ status: 'success', after_ms: 0 }]

/** The metadata of an account that is not refused. A pending check returned no result yet. */
const CHECKED = {
  success: { status: 'success', hasName: true, bankResponse: 'Transaction Successful' },
  pending: { status: 'failure', hasName: false, bankResponse: 'Beneficiary bank offline' },
} as const
const MESSAGE: Readonly<Record<BankStatus, string>> = {
  success: 'Bank account verified successfully',
  pending: 'Bank account verification is pending',
  failed: 'Bank account verification failed',
}

const messageOf = ({ status, message, reason }: BankStep) => message ?? reason ?? MESSAGE[status]

/** Bank accounts: verified by a penny drop when added (defaults: Bank accounts). */
export function createBankAccounts(context: WorldContext & { users: Users }) {
  const { store, clock, random, assumed, users } = context
  const { bank_accounts, kyc } = store.tables

  function holderOf(userId: string, accountNumber: string): string {
    const records = kyc.page('user', userId, 0, 50)
    const known = records.find(({ row }) => row.kyc_status === 'success') ?? records[0]
    return known ? known.row.full_name.toUpperCase() : holderNameOf(accountNumber)
  }

  function metadataOf(row: BankAccountRow, step: BankStep): BankMetadata {
    const ok = step.status === 'success'
    const result = { ...CHECKED, failed: assumed.get(refusedBankAccount) }[step.status]
    return {
      statusCode: 200,
      response: {
        status: ok,
        code: 200,
        message: messageOf(step),
        data: {
          status: result.status,
          statusCode: '200',
          result: {
            bankResponse: step.bankResponse ?? result.bankResponse,
            ifsc: maskIfsc(row.ifsc_code),
            accountNumber: maskNumber(row.account_number),
            accountName: result.hasName ? row.account_name : '',
            bankTxnStatus: ok,
          },
        },
      },
    }
  }

  /** The account that the user has with this number, if it is verified and the user cannot have a further one. */
  const repeatedAccount = (account: AddBankAccount) =>
    assumed.get(sameBankAccount) === 'new'
      ? undefined
      : bank_accounts.newest('verified', accountKey(account))

  const { begin, ...lifecycle } = createLifecycle<'bank', BankStep>(context, {
    kind: 'bank',
    noun: 'bank account',
    statusOf: (row) => row.bank_status,
    apply(row, step) {
      // Of two pending accounts with the same number, the second one fails as a duplicate, whatever the step says.
      const isDuplicate = step.status === 'success' && repeatedAccount(row)
      return {
        ...row,
        bank_status: isDuplicate ? 'failed' : step.status,
        account_name: step.accountName ?? row.account_name,
        updated_at: clock.iso(),
      }
    },
    /** The user gets the id of its first verified account. */
    onEntered(row) {
      if (row.bank_status === 'success' && users.get(row.user_id).row.bank_id === null)
        users.link(row.user_id, { bank_id: row.bank_id })
    },
    hintFor: () => '; only a pending account can become success or failed.',
  })

  /** Throws the errors of POST /bank without changing anything. Returns the account that the user already has. */
  function check(input: AddBankAccount) {
    users.get(input.user_id, 'user_id')
    const duplicate = repeatedAccount(input)
    if (!duplicate || assumed.get(sameBankAccount) === 'existing') return duplicate
    const message = `The account ${maskNumber(input.account_number)} of this user is already verified, as bank account ${duplicate.id}.`
    throw new SandboxError(
      'bank_account_exists',
      `${message} Use that one.`,
      fieldError('account_number', 'duplicate', message),
    )
  }

  const resultOf = (row: BankAccountRow, step: BankStep) => ({
    status: assumed.get(entryStatus)(step.status !== 'failed'),
    message: messageOf(step),
    row,
    metadata: metadataOf(row, step),
  })

  return {
    ...lifecycle,
    check,
    /** Adds an account and schedules its steps. Returns the row and the message and metadata of the bank. */
    add: (input: AddBankAccount, steps = DEFAULT_STEPS, lag?: number) =>
      store.change(() => {
        const known = check(input)
        if (known) return resultOf(known.row, { status: 'success', after_ms: 0 })
        const { user_id, account_number, ifsc_code } = input
        const first = steps[0]!
        const now = clock.iso()
        const row: BankAccountRow = {
          bank_id: newIdIn(bank_accounts, random.uuid),
          user_id,
          account_number,
          ifsc_code,
          bank_status: first.status,
          account_name: first.accountName ?? holderOf(user_id, account_number),
          created_at: now,
          updated_at: now,
        }
        return resultOf(begin(row, steps, lag).row, first)
      }),
    /** The accounts of a user that reads find, or all of them. */
    ofUser: (userId: string, rows = visibleRows(bank_accounts, clock)) =>
      listPage(rows, 'user', userId, WHOLE_LIST, assumed.get(listOrder)).entries,
  }
}
