/** The operations whose response is one page of a list. */
export const PAGED_LISTS: readonly string[] = [
  'listUsers',
  'listTransactions',
  'listTransactionHistory',
  'listUserTransactionHistory',
]

/** The operations that show the UTR of a payment, and its events. */
export const UTR_SHOWN: readonly string[] = [
  'createTransaction',
  'getTransaction',
  'listTransactions',
  'listTransactionHistory',
  'listUserTransactionHistory',
  'webhooks',
]
