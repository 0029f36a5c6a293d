// The names of the rows that the console shows.
import type { ResponseBody } from '../admin/contract.ts'

export type Client = ResponseBody<'readClient'>
export type Clock = Client['clock']
export type Timer = ResponseBody<'listTimers'>['timers'][number]
export type User = ResponseBody<'readUser'>
export type KycRecord = User['kyc'][number]
export type BankAccount = User['bank_accounts'][number]
/** A payment with all its details. */
export type PaymentWithAll = ResponseBody<'readTransaction'>
export type Payment = PaymentWithAll['transaction']
export type Step = PaymentWithAll['steps'][number]
export type Delivery = PaymentWithAll['deliveries'][number]
export type Attempt = Delivery['attempts'][number]
export type LoggedRequest = ResponseBody<'getRequest'>
/** A call of the service in short, as the event stream sends it. */
export type ShortRequest = PaymentWithAll['requests'][number]
