// One Chromium for all test files of a run; each takes a context of its own in it.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'

export { chromium }

// The first has no window: it takes two thirds of the processor time.
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

function canRun(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** A Chromium of this machine: the one that `CHROMIUM` names, or the first on the PATH. */
export function findChromium() {
  const { CHROMIUM, PATH = '' } = process.env
  if (CHROMIUM) return CHROMIUM
  const paths = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)))
  return paths.find(canRun)
}

/** Starts a Chromium that several programs connect to, by its `wsEndpoint()`. */
export async function startBrowser() {
  return chromium.launchServer({
    executablePath: findChromium(),
    host: '127.0.0.1',
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      // A name that a browser does not trust as it trusts this machine's own.
      '--host-resolver-rules=MAP sandbox 127.0.0.1',
    ],
  })
}
