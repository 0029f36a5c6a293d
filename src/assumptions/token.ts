import { assumption } from './assumption.ts'

/** What calls of the service do with access tokens. */
export type TokenUse = {
  /** Whether a call requires a token, by whether the contract says so. */
  isRequired: (byContract: boolean) => boolean
  /** A token that is sent is checked, and names the client. */
  isRead: boolean
}

/** Which calls of the service require an access token. */
export const token = assumption<TokenUse>({
  name: 'token',
  section: '5',
  concerns: ['all calls'],
  question:
    'Which calls require an access token? (`--auth MODE` is the short form of `--assume token=MODE`.)',
  basis: 'stated',
  why: 'The contract requires it for the history and implies it for the profile. A missing token is a loud error on the first live call.',
  default: 'spec',
  readings: {
    spec: {
      does: 'the history and the profile; elsewhere it is optional, and an unknown token is 401',
      value: { isRequired: (byContract) => byContract, isRead: true },
    },
    strict: { does: 'all calls', value: { isRequired: () => true, isRead: true } },
    off: {
      notAbsorbable: 'code that uses the tokens of several clients finds the data of one',
      does: 'none: a token that is sent is ignored, so only the base path names the client',
      value: { isRequired: () => false, isRead: false },
    },
  },
})
