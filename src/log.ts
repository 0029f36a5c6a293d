import { maskLogText } from './model/mask.ts'
import { jsonLine, printable } from './model/words.ts'
import type { Log } from './runtime/runtime.ts'

const LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LEVELS)[number]

/**
 * Creates a log. It writes lines such as `12:30:05 warn  message`, or one JSON object per line. Numbers in messages are
 * masked and control characters are removed. Levels that are off cost nothing.
 */
export function createLog(options: {
  level: LogLevel
  format: 'pretty' | 'json'
  wall: () => number
  write: (line: string) => void
}): Log {
  const maxLevel = LEVELS.indexOf(options.level)
  function at(level: Exclude<LogLevel, 'silent'>) {
    if (LEVELS.indexOf(level) > maxLevel) return () => {}
    return (message: string, error?: unknown) => {
      const time = new Date(options.wall()).toISOString()
      const text = maskLogText(message)
      const cause =
        error === undefined ? undefined : maskLogText((error as Error)?.stack ?? String(error))
      if (options.format === 'json')
        options.write(jsonLine({ time, level, message: text, error: cause }))
      else
        options.write(
          printable(
            `${time.slice(11, 19)} ${level.padEnd(5)} ${text}${cause ? `\n${cause}` : ''}\n`,
          ),
        )
    }
  }
  return { info: at('info'), warn: at('warn'), error: at('error') }
}
