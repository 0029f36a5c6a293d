import type { Operation } from '../../http/operation.ts'
import type { OperationId } from '../../scenarios/operations-and-events.ts'

const users = async () => (await import('./users.ts')).userOperations
const kyc = async () => (await import('./kyc.ts')).kycOperations
const bankAccounts = async () => (await import('./bank-accounts.ts')).bankAccountOperations
const transactions = async () => (await import('./transactions.ts')).transactionOperations
const history = async () => (await import('./history.ts')).historyOperations
const client = async () => (await import('./client.ts')).clientOperations
const webhook = async () => (await import('./webhook.ts')).webhookOperations

const GROUP_OF: Readonly<Record<OperationId, () => Promise<readonly Operation[]>>> = {
  createUser: users,
  getUser: users,
  listUsers: users,
  submitKyc: kyc,
  getKyc: kyc,
  addBankAccount: bankAccounts,
  listBankAccounts: bankAccounts,
  createTransaction: transactions,
  listTransactions: transactions,
  getTransaction: transactions,
  listTransactionHistory: history,
  listUserTransactionHistory: history,
  getClientProfile: client,
  createWebhook: webhook,
  getWebhook: webhook,
  updateWebhook: webhook,
}

/** Loads the definition of an operation, with its schemas. */
export async function loadOperation(id: OperationId): Promise<Operation> {
  const group = await GROUP_OF[id]()
  return group.find((operation) => operation.id === id)!
}
