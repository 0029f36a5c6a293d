// What's no longer there, and what to use in its place: whoever still uses it gets this as an error.

const REPEAT =
  '--clock frozen and --random-seed repeat a run, and requests export --har FILE keeps it for people'

/** The options by name: as a flag, a variable, a key of the config file and an option of the library. */
export const REMOVED_OPTIONS: Readonly<Record<string, string>> = {
  record: REPEAT,
  recover:
    'repair the data file or move its journal away, or use --reset, which starts with a new one and keeps backups',
  'discard-journal':
    'move the journal away, or use --reset, which starts with a new data file and keeps backups',
}

export const REMOVED_COMMANDS: Readonly<Record<string, string>> = {
  explore:
    'payout-sandbox sweep --only webhook tries each event late, repeated, reordered, dropped and forged',
  completion: 'payout-sandbox --help lists commands, payout-sandbox COMMAND --help its options',
  record: REPEAT,
  replay: REPEAT,
}
