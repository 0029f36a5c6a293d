import { assumption } from './assumption.ts'
import { UTR_SHOWN } from './concerns.ts'

/** The payment system whose form a UTR has. */
export type UtrSystem = 'imps' | 'neft' | 'rtgs'

// IMPS ends at 5 lakh rupees. Above it banks use NEFT or RTGS; 10 lakh is the border of the sandbox.
const [FIVE_LAKH, TEN_LAKH] = [500_000_00, 1_000_000_00]

const systemOf = (paise: number): UtrSystem =>
  paise <= FIVE_LAKH ? 'imps' : paise <= TEN_LAKH ? 'neft' : 'rtgs'

/** The form of the UTR of a payment with this amount in paise. */
export const utrForm = assumption<(paise: number) => UtrSystem>({
  name: 'utr_form',
  section: '2.5',
  concerns: UTR_SHOWN,
  question: 'What does a UTR look like?',
  basis: 'custom',
  why: 'IMPS ends at 5 lakh rupees. Code that stores a UTR as a number or in 12 characters would lose the UTR of a large payment.',
  default: 'by_amount',
  readings: {
    by_amount: {
      does: 'up to 5 lakh rupees 12 digits, as in IMPS; up to 10 lakh 16 characters, as in NEFT (`N351200478962883`); above it 22 characters, as in RTGS (`HDFCR52026010112345678`)',
      value: systemOf,
    },
    imps: {
      does: '12 digits: the last digit of the year, the day of the year in India, and a series that does not repeat',
      value: () => 'imps',
    },
  },
})
