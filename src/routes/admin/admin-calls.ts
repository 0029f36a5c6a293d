// routes/admin/: the endpoints of the admin API, one list for each topic. They read and change a world, which has the
// logic; admin-calls.ts puts the lists together.

import type { AdminCall } from '../../http/admin-call.ts'
import { assumptionCalls } from './assumptions.ts'
import { dataCalls } from './client-data.ts'
import { clientCalls } from './clients.ts'
import { clockCalls } from './clock.ts'
import { eventCalls } from './events.ts'
import { healthCalls } from './health.ts'
import { requestCalls } from './requests.ts'
import { scenarioCalls } from './scenarios.ts'
import { simulateCalls } from './simulate.ts'
import { resetCalls, stateCalls } from './state.ts'
import { statementCalls } from './statement.ts'
import { waitCalls } from './wait.ts'
import { inboxCalls, webhookCalls } from './webhooks.ts'

export const ADMIN_CALLS = [
  ...healthCalls,
  ...clockCalls,
  ...resetCalls,
  ...scenarioCalls,
  ...assumptionCalls,
  ...simulateCalls,
  ...clientCalls,
  ...stateCalls,
  ...webhookCalls,
  ...inboxCalls,
  ...requestCalls,
  ...waitCalls,
  ...eventCalls,
  ...dataCalls,
  ...statementCalls,
] satisfies readonly AdminCall[]
