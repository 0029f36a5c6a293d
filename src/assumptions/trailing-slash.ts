import { assumption } from './assumption.ts'

/** Whether a path can have a slash at its end. */
export const trailingSlash = assumption<boolean>({
  name: 'trailing_slash',
  section: '4',
  concerns: ['all calls'],
  question: 'Does a path with a slash at its end exist, such as GET /users/?',
  basis: 'custom',
  why: 'Express, with which many such services are built, accepts it. A service that does not says so on the first call.',
  default: 'accepted',
  readings: {
    accepted: { does: 'it is the same path as the one without the slash', value: true },
    refused: { does: '404 `not_found`', value: false },
  },
})
