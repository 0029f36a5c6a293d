import { assumption } from './assumption.ts'
import { PAGED_LISTS } from './concerns.ts'

/** Whether a page after the last one is an empty list. */
export const pagePastTheEnd = assumption<boolean>({
  name: 'page_past_the_end',
  section: '4.1 to 4.3',
  concerns: PAGED_LISTS,
  question: 'What is the response for a page after the last one?',
  basis: 'guessed',
  why: 'The contract shows no error for a list. A caller that stops at `total_pages` is right in both cases.',
  default: 'empty',
  readings: {
    empty: { does: '200 with an empty list', value: true },
    not_found: { does: '404 `not_found`; page 1 always exists', value: false },
  },
})
