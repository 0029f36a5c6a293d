/** What the one bundle holds: the command line and the library, so that both start from one code cache. */
export { main } from './cli/main.ts'
export { startSandbox } from './index.ts'
