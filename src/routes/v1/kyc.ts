import { operation } from '../../http/operation.ts'
import { successText } from '../../model/envelope.ts'
import { GetKycResponse, SubmitKyc, SubmitKycResponse } from '../../model/kyc.ts'
import { UserPath } from './users.ts'

/** The endpoints that submit KYC documents and read those of a user. */
export const kycOperations = [
  operation({
    id: 'submitKyc',
    method: 'POST',
    url: '/kyc',
    tag: 'KYC',
    summary: 'Submit KYC documents of a user',
    description:
      'If a document fails, the response is still 201, and the entry of the document has status false.',
    body: SubmitKyc,
    status: 201,
    response: SubmitKycResponse,

    check: ({ kyc }, { body }) => kyc.check(body),
    handle({ kyc, views }, { body }, lifecycle) {
      const entries = kyc
        .submit(body, lifecycle.kyc)
        .map(
          ({ status, message, entry }) =>
            `{"status":${status},"message":${JSON.stringify(message)},"data":${views.kyc(entry)}}`,
        )
      return successText(201, 'KYC processed successfully', `[${entries.join()}]`)
    },
  }),
  operation({
    id: 'getKyc',
    method: 'GET',
    url: '/kyc/:userId',
    tag: 'KYC',
    summary: 'Read a user with their KYC records',
    params: UserPath,
    status: 200,
    response: GetKycResponse,

    handle({ users, kyc, views }, { params }) {
      const user = views.user(users.get(params.userId))
      const records = kyc.ofUser(params.userId).map(views.kyc).join()
      const response = `{"status":true,"code":200,"message":"KYC fetched successfully","data":{"user":[${user}],"kycData":[${records}]}}`
      return `{"status":true,"data":{"statusCode":200,"response":${response}}}`
    },
  }),
]
