import { printableLine } from '../model/words.ts'
import { prepareReport, type Report, writeReport } from '../tools/report/report.ts'
import type { Command, Input } from './command.ts'

export const REPORT_FLAG = {
  report: ['DIR', 'folder for junit.xml and summary.md; those of an earlier report are replaced'],
} as const satisfies Command['flags']

/**
 * Makes the folder of `--report`, and returns what writes a report there; without the option it does nothing. Throws
 * `BadOption` if nothing can be written there. A report changes no exit code.
 */
export function openReport({ report }: Input['flags']): (report: Report) => void {
  if (report === undefined) return () => {}
  const dir = String(report)
  prepareReport(dir)
  return (written) => {
    try {
      writeReport(dir, written)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      process.stderr.write(
        `${printableLine(`payout-sandbox: the report in ${dir} could not be written (${code ?? message}); the exit code is that without a report`)}\n`,
      )
    }
  }
}
