const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`
export const PAYER = id(1)
export const PAYEE = id(2)
const ACCOUNT = id(3)
const on = (day: number) => ({ created_at: `2025-01-0${day}T03:30:00.000Z` })

/** The least there can be for a payment to be made. */
export const FIXTURES = {
  users: [
    { user_id: PAYER, email: 'payer@example.com', mobile: '9000000001', ...on(6) },
    { user_id: PAYEE, email: 'payee@example.com', mobile: '9000000002', ...on(7) },
  ],
  bank_accounts: [
    {
      bank_id: ACCOUNT,
      user_id: PAYEE,
      account_number: '999910000013',
      ifsc_code: 'HDFC0000001',
      bank_status: 'success',
      account_holder_name: 'PAYEE',
      ...on(8),
    },
  ],
}

/** What such a payment asks. */
export const PAYMENT = {
  from_user_id: PAYER,
  to_user_id: PAYEE,
  benif_bank_id: ACCOUNT,
  amount: 100,
}
