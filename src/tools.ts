// The entry point of the bundle of the tools, which a start never reads: the commands that need it, and what the server
// loads of it for coverage, books and reports.
export { main } from './cli/main.ts'
export { Collector } from './tools/coverage/collector.ts'
export { coverageText } from './tools/coverage/coverage-text.ts'
export { coverageOf } from './tools/coverage/report.ts'
export { harOf } from './tools/har.ts'
export { reconcile } from './tools/reconcile.ts'
export { pageOf } from './tools/report/markup.ts'
export { SessionRecorder } from './tools/report/session.ts'
