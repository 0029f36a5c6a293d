const WIDTH = 30

/** A terminal, or its replacement in a test. */
export type Screen = { isTTY?: boolean; write(text: string): unknown }

const barText = (done: number, total: number, label: string) => {
  const filled = Math.floor((done / total) * WIDTH)
  const percent = String(Math.floor((done / total) * 100)).padStart(3)
  return `\r[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}] ${percent} % ${label}`
}

/** A progress bar that is shown on a terminal only and redrawn once per percent, and if a label that changes has changed. */
export function progressBar(screen: Screen, total: number, label: string | (() => string)) {
  let done = 0
  let percent = -1
  let shown: string | undefined
  return {
    step() {
      done++
      const now = Math.floor((done / total) * 100)
      if (!screen.isTTY) return
      const text = typeof label === 'string' ? label : label()
      if (now === percent && text === shown) return
      percent = now
      shown = text
      // A shorter label leaves nothing of a longer one.
      screen.write(barText(done, total, text) + (typeof label === 'string' ? '' : '\u001b[K'))
    },
    /** Counts a step without drawing it. */
    skip() {
      done++
    },
    /** Clears the line of the bar. */
    end() {
      if (screen.isTTY && percent >= 0) screen.write('\r\u001b[2K')
    },
  }
}
