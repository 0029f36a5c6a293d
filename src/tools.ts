// The entry point of the bundle of the tools, which a start never reads: the commands that need it, and what the server
// loads of it when coverage is on.
export { main } from './cli/main.ts'
export { Collector } from './tools/coverage/collector.ts'
export { coverageOf } from './tools/coverage/report.ts'
