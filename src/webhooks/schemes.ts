import type { SignatureScheme } from '../assumptions/webhooks.ts'
import { type SignFault, type SignInput, signWebhook } from './sign.ts'
import { type Verdict, type VerifyInput, verifyBodySignature, verifySignature } from './verify.ts'

type Headers = Readonly<Record<string, string>>

/** How one scheme signs a webhook, and how its receiver verifies it. */
type Scheme = {
  sign: (input: SignInput, fault: SignFault) => Headers
  verify: (input: VerifyInput) => Verdict
  /** The names of its headers. */
  headers: readonly string[]
}

const BODY_HEADER = 'x-webhook-signature'

/** Every scheme of signatures. */
export const SIGNATURE_SCHEMES: Readonly<Record<SignatureScheme, Scheme>> = {
  message: {
    sign: signWebhook,
    verify: verifySignature,
    headers: ['webhook-id', 'webhook-timestamp', 'webhook-signature', BODY_HEADER],
  },
  body: {
    sign(input, fault) {
      const signature = signWebhook(input, fault)[BODY_HEADER]
      return signature === undefined ? {} : { [BODY_HEADER]: signature }
    },
    verify: verifyBodySignature,
    headers: [BODY_HEADER],
  },
  none: {
    sign: () => ({}),
    verify: () => ({
      ok: false,
      code: 'not_signed',
      reason: 'webhooks are not signed, because the reading of webhook_signature is none',
    }),
    headers: [],
  },
}
