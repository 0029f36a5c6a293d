// The page of report.html and session.html: one sweep or one run of a program, whose result is in the file itself.
import { render } from 'preact'
import type { SessionDocument } from '../report/session.ts'
import type { SweepDocument } from '../sweep/report/sweep-json.ts'
import { Session } from './views/session.tsx'
import { SweepResult } from './views/sweep-result.tsx'
import './report.css'

const given = <D,>(id: string): D | undefined =>
  JSON.parse(document.getElementById(id)?.textContent ?? 'null') ?? undefined
const sweep = given<SweepDocument>('sweep')
const session = given<SessionDocument>('session')
render(
  <>
    <h1>payout-sandbox {sweep ? 'sweep' : 'session'}</h1>
    {sweep && <SweepResult sweep={sweep} />}
    {session && <Session session={session} />}
  </>,
  document.getElementById('report')!,
)
