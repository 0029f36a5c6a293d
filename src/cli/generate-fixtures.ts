import { GeneratedRows } from './generated-rows.ts'

const CHUNK = 65_536

/**
 * Yields the text of a fixture file with this number of users in chunks. It makes one pass over the users per table and
 * stores no rows. Calls `step` once per user and table.
 */
export function* fixtureText(users: number, seed: number, step: () => void): Generator<string> {
  let text = '{'
  let comma = ''
  for (const [table, rowsOf] of Object.entries(new GeneratedRows(users, seed).tables)) {
    text += `${comma}\n"${table}": [`
    comma = ''
    for (let user = 0; user < users; user++) {
      for (const row of rowsOf(user)) {
        text += `${comma}\n${JSON.stringify(row)}`
        comma = ','
      }
      step()
      if (text.length < CHUNK) continue
      yield text
      text = ''
    }
    text += '\n]'
    comma = ','
  }
  yield `${text}\n}\n`
}

/** How often `fixtureText` calls `step`. */
export const stepCount = (users: number): number => 4 * users
