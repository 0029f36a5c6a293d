import { assumption } from './assumption.ts'
import { PAGED_LISTS } from './concerns.ts'

/** Whether lists of the service start with the oldest row. */
export const listOrder = assumption<'newest' | 'oldest'>({
  name: 'list_order',
  section: '4',
  concerns: PAGED_LISTS,
  question: 'Which row of a list is first?',
  basis: 'guessed',
  why: 'A caller that looks for its latest payment on page 1 finds it.',
  default: 'newest_first',
  readings: {
    newest_first: { does: 'the row with the latest `created_at`', value: 'newest' },
    oldest_first: { does: 'the row with the earliest `created_at`', value: 'oldest' },
  },
})
