import { assumption } from './assumption.ts'
import { UTR_SHOWN } from './concerns.ts'

/** The time (ms on the client's clock) from SUCCESS to the UTR. */
export const utrOfSuccess = assumption<{ after_ms: number }>({
  name: 'utr_of_success',
  section: '2.5',
  concerns: UTR_SHOWN,
  question: 'When does a payment get its UTR?',
  basis: 'stated',
  why: 'The contract says that the UTR is set after completion.',
  default: 'with_status',
  readings: {
    with_status: { does: 'with the status SUCCESS', value: { after_ms: 0 } },
    later: {
      does: '5 s after SUCCESS on the client’s clock. Until then `utr` is null. The step changes `updated_at` and sends no event. A payment that is reversed before it gets no UTR',
      value: { after_ms: 5_000 },
    },
  },
})
