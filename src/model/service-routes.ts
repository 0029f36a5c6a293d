// The contract of the service, as far as its routes need it before an operation is called.

/** The method of every operation, its path below `/v1`, and whether the contract requires a token. */
export const SERVICE_ROUTES = {
  createUser: { method: 'POST', url: '/user', tokenNeeded: false },
  getUser: { method: 'GET', url: '/user/:userId', tokenNeeded: false },
  listUsers: { method: 'GET', url: '/users', tokenNeeded: false },
  submitKyc: { method: 'POST', url: '/kyc', tokenNeeded: false },
  getKyc: { method: 'GET', url: '/kyc/:userId', tokenNeeded: false },
  addBankAccount: { method: 'POST', url: '/bank', tokenNeeded: false },
  listBankAccounts: { method: 'GET', url: '/bank/:userId', tokenNeeded: false },
  createTransaction: { method: 'POST', url: '/transaction', tokenNeeded: false },
  listTransactions: { method: 'GET', url: '/transaction', tokenNeeded: false },
  getTransaction: { method: 'GET', url: '/transaction/:transaction_id', tokenNeeded: false },
  listTransactionHistory: { method: 'GET', url: '/transaction/history', tokenNeeded: true },
  listUserTransactionHistory: {
    method: 'GET',
    url: '/transaction/history/user/:userId',
    tokenNeeded: true,
  },
  getClientProfile: { method: 'GET', url: '/client/profile', tokenNeeded: true },
  createWebhook: { method: 'POST', url: '/clientWebhook', tokenNeeded: false },
  getWebhook: { method: 'GET', url: '/clientWebhook', tokenNeeded: false },
  updateWebhook: { method: 'PUT', url: '/clientWebhook', tokenNeeded: false },
} as const satisfies Record<string, Omit<ServiceRoute, 'id'>>

/** The route of one operation. */
export type ServiceRoute = {
  id: string
  method: 'GET' | 'POST' | 'PUT'
  url: string
  /** Whether a token is also required in the mode `spec`. */
  tokenNeeded: boolean
}
