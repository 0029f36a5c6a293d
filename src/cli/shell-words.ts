const PLAIN = /^[\w@%+=:,./-]+$/
const SECRETS = ['--admin-token', '--token']

const quoted = (word: string) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** Words as a person types them into a shell; a token is not repeated. */
export function shellWords(words: readonly string[]): string {
  return words
    .map((word, i) => {
      if (SECRETS.includes(words[i - 1] ?? '')) return 'T'
      const secret = SECRETS.find((flag) => word.startsWith(`${flag}=`))
      return secret ? `${secret}=T` : quoted(word)
    })
    .join(' ')
}
