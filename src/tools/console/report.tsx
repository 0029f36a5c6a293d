// The page of report.html: one sweep, whose result is in the file itself.
import { render } from 'preact'
import type { SweepDocument } from '../sweep/report/sweep-json.ts'
import { SweepResult } from './views/sweep-result.tsx'
import './report.css'

const sweep: SweepDocument = JSON.parse(document.getElementById('sweep')!.textContent!)
render(
  <>
    <h1>payout-sandbox sweep</h1>
    <SweepResult sweep={sweep} />
  </>,
  document.getElementById('report')!,
)
