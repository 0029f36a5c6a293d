import { COVERAGE_HEAD, type Coverage, coverageCounts, coverageRows } from '../../model/coverage.ts'
import { aligned } from '../report/table.ts'

/** The coverage as people read it: the groups; each behaviour, who met it and what would show the rest. */
export const coverageText = (coverage: Coverage): string =>
  `${aligned(coverageCounts(coverage))}\n${aligned([COVERAGE_HEAD, ...coverageRows(coverage)])}`
