import { operation } from '../../http/operation.ts'
import { successText } from '../../model/envelope-text.ts'
import { json, listText, stringify } from '../../model/json-text.ts'
import { GetKycResponse, SubmitKyc, SubmitKycResponse } from '../../model/kyc.ts'
import { UserPath } from './users.ts'

/** The endpoints that submit KYC documents and read those of a user. */
export const kycOperations = [
  operation({
    id: 'submitKyc',
    tag: 'KYC',
    summary: 'Submit KYC documents of a user',
    description:
      'If a document fails, the response is still 201, and the entry of the document has status false.',
    body: SubmitKyc,
    status: 201,
    response: SubmitKycResponse,

    check: ({ kyc }, { body }) => kyc.check(body),
    handle({ kyc, views }, { body }, lifecycles) {
      const entries = kyc
        .submit(body, lifecycles.kyc)
        .map(({ status, message, entry }) =>
          json(`{"status":${status},"message":${stringify(message)},"data":${views.kyc(entry)}}`),
        )
      return successText(201, 'KYC processed successfully', listText(entries))
    },
  }),
  operation({
    id: 'getKyc',
    tag: 'KYC',
    summary: 'Read a user with their KYC records',
    params: UserPath,
    status: 200,
    response: GetKycResponse,

    handle({ users, kyc, views }, { params }) {
      const user = views.user(users.get(params.userId))
      const records = listText(kyc.ofUser(params.userId).map(views.kyc))
      const data = json(`{"user":[${user}],"kycData":${records}}`)
      const response = successText(200, 'KYC fetched successfully', data)
      return json(`{"status":true,"data":{"statusCode":200,"response":${response}}}`)
    },
  }),
]
