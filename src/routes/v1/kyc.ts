import { operation } from '../../http/operation.ts'
import { GetKycResponse, SubmitKyc, SubmitKycResponse } from '../../model/kyc.ts'
import { success } from '../../model/paging.ts'
import { UserPath } from './users.ts'

export const kycOperations = [
  operation({
    id: 'submitKyc',
    tag: 'KYC',
    summary: 'Submit KYC documents of a user',
    description:
      'If a document fails, the response is still 201, and the record of the document has kyc_status failed.',
    body: SubmitKyc,
    status: 201,
    response: SubmitKycResponse,
    check: ({ payouts: { kyc } }, { body }) => kyc.check(body),
    handle({ payouts: { kyc, views } }, { body }, lifecycles) {
      const records = kyc
        .submit(body, lifecycles.kyc, lifecycles.visible_after_ms)
        .map(({ status, message, entry }) => ({ status, message, data: views.kyc(entry) }))
      return success(201, 'KYC processed successfully', records)
    },
  }),
  operation({
    id: 'getKyc',
    tag: 'KYC',
    summary: 'Read a user with their KYC records',
    params: UserPath,
    response: GetKycResponse,
    handle({ payouts: { users, kyc, views } }, { params }) {
      const user = [views.user(users.read(params.userId))]
      const kycData = kyc.ofUser(params.userId).map(views.kyc)
      const response = success(200, 'KYC fetched successfully', { user, kycData })
      return { status: true as const, data: { statusCode: 200 as const, response } }
    },
  }),
]
