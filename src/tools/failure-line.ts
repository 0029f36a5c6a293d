const FAILURE =
  /^\s*(not ok\b|✖ |✗ |× |FAIL|--- FAIL|E {2,}\S|(Uncaught )?[\w.]*(Error|Exception)\b(?!\.))/

/** The line of a command's output that names the failure: the first one that looks so, else the last one. */
export function failureLine(output: string): string {
  const lines = output.trimEnd().split('\n')
  const line = (lines.find((one) => FAILURE.test(one)) ?? lines.at(-1)!).trim()
  return line === '' ? '' : `: ${line.length > 160 ? `${line.slice(0, 157)}...` : line}`
}
