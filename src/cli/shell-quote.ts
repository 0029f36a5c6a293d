const PLAIN = /^[\w@%+=:,./-]+$/
const CONTROL = /[\x00-\x1f\x7f]/g
const SECRET_FLAGS = ['--admin-token', '--token']

/** A control character would end the line, or be lost on a terminal. */
const escaped = (argument: string) =>
  argument
    .replaceAll(/[\\']/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll(CONTROL, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`)

function quote(argument: string): string {
  if (PLAIN.test(argument)) return argument
  if (argument.search(CONTROL) >= 0) return `$'${escaped(argument)}'`
  return `'${argument.replaceAll("'", "'\\''")}'`
}

/** Quotes the words of a program for a POSIX shell and joins them. */
export const quoteProgram = (words: readonly string[]): string => words.map(quote).join(' ')

/** Quotes arguments for a POSIX shell and joins them. Tokens are replaced by `T`. */
export function quoteShellArguments(args: readonly string[]): string {
  return args
    .map((argument, i) => {
      if (SECRET_FLAGS.includes(args[i - 1] ?? '')) return 'T'
      const secret = SECRET_FLAGS.find((flag) => argument.startsWith(`${flag}=`))
      return secret ? `${secret}=T` : quote(argument)
    })
    .join(' ')
}
