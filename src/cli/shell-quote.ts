const PLAIN = /^[\w@%+=:,./-]+$/
const SECRET_FLAGS = ['--admin-token', '--token']

const quote = (argument: string) =>
  PLAIN.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`

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
