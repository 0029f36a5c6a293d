import { BadOption } from '../config/options.ts'
import { type Command, GLOBAL_FLAGS } from './command.ts'

const FILE_NAMES = ['FILE', 'PATH', 'DIR']

/** The words of a syntax such as `real|frozen|ISO`: they are in lower case, and the others are names of what to type. */
const wordsOf = (syntax: string) => syntax.split('|').filter((word) => /^[a-z][a-z-]*$/.test(word))

/** What a shell suggests after a flag: words, files, or nothing if the flag takes no value. */
const completedFlag = ([name, [valueName, description]]: [string, Command['flags'][string]]) => ({
  name,
  description: description.replace(/ \((?:default|env): .*$/, ''),
  takesValue: valueName !== '',
  values: valueName.includes('|') ? wordsOf(valueName) : [],
  isFile: FILE_NAMES.includes(valueName),
})
type CompletedFlag = ReturnType<typeof completedFlag>

/** What a shell suggests after a command: `advance` of `clock advance BY` is one of the words. */
function completedCommand({ name, summary, usage, flags }: Command, names: readonly string[]) {
  const afterName = usage.map(([syntax]) => syntax.split(' ').slice(1))
  const words = afterName.flatMap(([word = '']) => (word === 'COMMAND' ? names : wordsOf(word)))
  return {
    name,
    summary,
    words: [...new Set(words)],
    takesFiles: afterName.flat().some((word) => FILE_NAMES.includes(word.replace('...', ''))),
    flags: Object.entries({ ...flags, ...GLOBAL_FLAGS }).map(completedFlag),
  }
}
type CompletedCommand = ReturnType<typeof completedCommand>

// A command without a name is start.
const FIRST = 'start'

// ---- the scripts

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

function bashScript(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name)
  const values = commands.flatMap(({ name, flags }) =>
    flags
      .filter(({ takesValue }) => takesValue)
      .map((flag) => {
        const suggestion = flag.isFile ? '-f' : `-W ${quote(flag.values.join(' '))}`
        return `    ${quote(`${name} --${flag.name}`)}) suggest=(${suggestion}) ;;`
      }),
  )
  const words = commands.map(({ name, words: own, takesFiles, flags }) => {
    const files = takesFiles ? ' -f' : ''
    const options = quote(flags.map((flag) => `--${flag.name}`).join(' '))
    const first =
      own.length > 0
        ? ` [[ $previous != ${name} ]] || suggest[1]+=${quote(` ${own.join(' ')}`)}`
        : ''
    return `    ${name}) suggest=(-W ${options}${files});${first || ' :'} ;;`
  })
  return `# Completion of payout-sandbox for bash: source <(payout-sandbox completion bash)
_payout_sandbox() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  local known= word
  # Bash splits --log-level=debug into three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  local -a suggest
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    # After -- is a program with its arguments.
    if [[ $word == -- ]]; then
      COMPREPLY=($(compgen -c -f -- "$current"))
      return
    fi
    case \${known:-$word} in
    ${names.join('|')})
      known=\${known:-$word}
      ;;
    esac
  done
  local command=\${known:-${FIRST}}
  if [[ -z $known && $current != -* && $previous != --* ]]; then
    COMPREPLY=($(compgen -W ${quote(names.join(' '))} -- "$current"))
    return
  fi
  case "$command $previous" in
${values.join('\n')}
  *)
    case $command in
${words.join('\n')}
    esac
    ;;
  esac
  COMPREPLY=($(compgen "\${suggest[@]}" -- "$current"))
}
complete -F _payout_sandbox payout-sandbox
`
}

/** The text of a description where zsh gives a colon and brackets a meaning. */
const zshText = (text: string) => text.replaceAll(/[[\]:\\]/g, '\\$&')

function zshFlag({ name, description, takesValue, values, isFile }: CompletedFlag): string {
  const action = isFile ? '_files' : values.length > 0 ? `(${values.join(' ')})` : ' '
  return quote(`*--${name}[${zshText(description)}]${takesValue ? `:value:${action}` : ''}`)
}

function zshScript(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name, summary }) => quote(`${zshText(name)}:${zshText(summary)}`))
  const cases = commands.map(({ name, words, takesFiles, flags }) => {
    const first = words.length > 0 ? ` ${quote(`1:word:(${words.join(' ')})`)}` : ''
    const rest = quote(`*:argument:${takesFiles ? '_files' : ' '}`)
    return `  ${name}) _arguments${first} ${rest} ${flags.map(zshFlag).join(' ')} ;;`
  })
  return `#compdef payout-sandbox
# Completion of payout-sandbox for zsh: source <(payout-sandbox completion zsh)
_payout_sandbox() {
  local command=${FIRST}
  # After -- is a program with its arguments.
  local dashes=\${words[(i)--]}
  if ((dashes < CURRENT)); then
    shift dashes words
    ((CURRENT -= dashes))
    _normal
    return
  fi
  if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then
    local -a commands=(${names.join(' ')})
    _describe command commands
    return
  fi
  if [[ $words[2] != -* ]]; then
    command=$words[2]
    shift words
    ((CURRENT--))
  fi
  case $command in
${cases.join('\n')}
  esac
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
if [[ $funcstack[1] == _payout_sandbox ]]; then _payout_sandbox "$@"; else compdef _payout_sandbox payout-sandbox; fi
`
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name)
  const isFirst = quote(`not __fish_seen_subcommand_from ${names.join(' ')}`)
  const program = 'complete -c payout-sandbox'
  const lines = commands.flatMap(({ name, summary, words, takesFiles, flags }) => {
    const seen = `__fish_seen_subcommand_from ${name}`
    // A command line without a command is start.
    const when = name === FIRST ? quote(`${seen}; or ${isFirst.slice(1, -1)}`) : quote(seen)
    return [
      `${program} -n ${isFirst} -f -a ${name} -d ${quote(summary)}`,
      ...(words.length > 0
        ? [
            `${program} -n ${quote(`test (commandline -opc)[-1] = ${name}`)} -f -a ${quote(words.join(' '))}`,
          ]
        : []),
      ...(takesFiles ? [`${program} -n ${quote(seen)} -F`] : []),
      ...flags.map(({ name: flag, description, takesValue, values, isFile }) => {
        const value = isFile ? ' -r -F' : takesValue ? ' -x' : ''
        const choices = values.length > 0 ? ` -a ${quote(values.join(' '))}` : ''
        return `${program} -n ${when} -l ${flag} -d ${quote(description)}${value}${choices}`
      }),
    ]
  })
  return `# Completion of payout-sandbox for fish: payout-sandbox completion fish | source
${program} -f
# After -- is a program with its arguments.
${program} -n 'contains -- -- (commandline -opc)' -F -a '(__fish_complete_command)'
${lines.join('\n')}
`
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

/** The command that prints a script, with which a shell completes the words of all commands. */
export const completionOf = (commands: () => readonly Command[]): Command => ({
  name: 'completion',
  summary: 'print the script with which bash, zsh or fish completes commands and options',
  usage: [['completion bash|zsh|fish', 'print the script of a shell']],
  flags: {},
  examples: [
    'completion bash > ~/.local/share/bash-completion/completions/payout-sandbox',
    'completion fish > ~/.config/fish/completions/payout-sandbox.fish',
  ],
  syntax: 'SHELL',
  async run({ args: [shell = ''] }) {
    if (!Object.hasOwn(SCRIPTS, shell))
      throw new BadOption(
        `completion takes ${Object.keys(SCRIPTS).join(', ')}, not ${JSON.stringify(shell)}`,
      )
    const all = commands()
    const names = all.map(({ name }) => name)
    const script = SCRIPTS[shell as keyof typeof SCRIPTS]
    return script(all.map((command) => completedCommand(command, names)))
  },
})
