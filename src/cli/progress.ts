const WIDTH = 30

/** A terminal, or what stands for it where there is none. */
export type Screen = { isTTY?: boolean; write(text: string): unknown }

const shown = (done: number, total: number, noun: string) => {
  const part = Math.floor((done / total) * WIDTH)
  const percent = String(Math.floor((done / total) * 100)).padStart(3)
  return `\r[${'#'.repeat(part)}${'-'.repeat(WIDTH - part)}] ${percent} % ${noun}`
}

/** A bar that grows with each step, on a terminal only; written once a percent. */
export function progressBar(screen: Screen, total: number, noun: string) {
  let done = 0
  let percent = -1
  return {
    step() {
      done++
      const now = Math.floor((done / total) * 100)
      if (!screen.isTTY || now === percent) return
      percent = now
      screen.write(shown(done, total, noun))
    },
    /** Leaves the terminal's line empty. */
    end() {
      if (screen.isTTY && percent >= 0) screen.write('\r\u001b[2K')
    },
  }
}
