// Takes the place of async-hook-domain in the bundle of the tests: an error that nothing catches goes to the test that runs.
// That package follows every promise and socket to its test, which takes a twentieth of the processor time.
import { executionAsyncResource } from 'node:async_hooks'

const domains = new Set()

function receive(error) {
  // A test that waits for its turn has not started.
  const all = [...domains]
  const domain = all.findLast(({ test }) => test === undefined || test.started) ?? all[0]
  domain.onerror(error, 'uncaughtException')
}

export class Domain {
  constructor(onerror) {
    this.onerror = onerror
    // tap makes a domain in the resource of its test, except for the one of the process.
    this.test = executionAsyncResource().test
    if (domains.size === 0) process.setUncaughtExceptionCaptureCallback(receive)
    domains.add(this)
  }

  destroy() {
    domains.delete(this)
    if (domains.size === 0) process.setUncaughtExceptionCaptureCallback(null)
  }
}
