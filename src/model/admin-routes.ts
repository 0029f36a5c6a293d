// model/: the shapes of the wire in zod, and the words of the contract: error codes, statuses and their transitions,
// formats, masks. It knows nothing of how they are stored or served.

// The contract of the admin API, as far as its clients need it at run time. The CLI and the console load this file, so it
// imports nothing.

/** The method of every admin call, and its path below `/__admin`. */
export const ADMIN_ROUTES = {
  getHealth: 'GET /health',
  getReady: 'GET /ready',
  getClock: 'GET /clock',
  freezeClock: 'POST /clock/freeze',
  resumeClock: 'POST /clock/resume',
  setClockSpeed: 'POST /clock/speed',
  advanceClock: 'POST /clock/advance',
  advanceClockToNext: 'POST /clock/next',
  listTimers: 'GET /timers',
  deleteTimer: 'DELETE /timers/:id',
  fireTimer: 'POST /timers/:id/fire',
  reset: 'POST /reset',
  listScenarios: 'GET /scenarios',
  readScenario: 'GET /scenarios/:name',
  getScenario: 'GET /scenario',
  setScenario: 'PUT /scenario',
  listRules: 'GET /rules',
  pushRule: 'POST /rules',
  deleteRule: 'DELETE /rules/:id',
  listMagicValues: 'GET /magic-values',
  listAssumptions: 'GET /assumptions',
  setAssumptions: 'PUT /assumptions',
  simulateTransaction: 'POST /simulate/transactions/:id',
  simulateKyc: 'POST /simulate/kyc/:id',
  simulateBankAccount: 'POST /simulate/bank-accounts/:id',
  listClients: 'GET /clients',
  createClient: 'POST /clients',
  deleteClient: 'DELETE /clients/:name',
  getState: 'GET /state',
  putState: 'PUT /state',
  listSnapshots: 'GET /snapshots',
  saveSnapshot: 'POST /snapshots',
  getSnapshot: 'GET /snapshots/:name',
  deleteSnapshot: 'DELETE /snapshots/:name',
  restoreSnapshot: 'POST /snapshots/:name/restore',
  diffSnapshot: 'GET /snapshots/:name/diff',
  listDeliveries: 'GET /webhooks/deliveries',
  getDelivery: 'GET /webhooks/deliveries/:id',
  redeliver: 'POST /webhooks/deliveries/:id/redeliver',
  triggerWebhook: 'POST /webhooks/trigger',
  receiveWebhook: 'POST /webhooks/inbox',
  listInbox: 'GET /webhooks/inbox',
  clearInbox: 'DELETE /webhooks/inbox',
  listRequests: 'GET /requests',
  getRequest: 'GET /requests/:id',
  deleteRequests: 'DELETE /requests',
  findRequests: 'POST /requests/find',
  countRequests: 'POST /requests/count',
  verifyRequests: 'POST /requests/verify',
  getCoverage: 'GET /coverage',
  wait: 'POST /wait',
  streamEvents: 'GET /events',
  readClient: 'GET /client',
  readSummary: 'GET /summary',
  readUsers: 'GET /users',
  readUser: 'GET /users/:id',
  readTransactions: 'GET /transactions',
  readTransaction: 'GET /transactions/:id',
  getStatement: 'GET /statement',
  reconcile: 'POST /reconcile',
} as const satisfies Record<string, `${Method} /${string}`>

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export type AdminCallId = keyof typeof ADMIN_ROUTES

/** The method of a call, and its path with parameters such as `:id`. */
export function adminRoute(id: AdminCallId): { method: Method; url: string } {
  const [method, url] = ADMIN_ROUTES[id].split(' ') as [Method, string]
  return { method, url }
}

/** The method of a call, and its path with the values of its parameters and its query. Leaves out undefined query values. */
export function adminTarget(
  id: AdminCallId,
  { params = {}, query = {} }: { params?: object | undefined; query?: object | undefined },
): { method: Method; path: string } {
  const { method, url } = adminRoute(id)
  const values = params as Record<string, unknown>
  const path = url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(values[name])))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) search.set(name, String(value))
  const text = String(search)
  return { method, path: text === '' ? path : `${path}?${text}` }
}
