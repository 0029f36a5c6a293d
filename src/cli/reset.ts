import { remoteCommand } from './remote.ts'

export const reset = remoteCommand({
  name: 'reset',
  summary: 'reset a running sandbox to its fixtures, start clock and start scenario',
  subcommands: {
    '': {
      syntax: '[PART...]',
      flags: { all: ['', 'reset every client'] },
      description:
        'reset a client to its fixtures, start clock and start scenario, or only some parts, such as clock',
      async run(api, args, flags) {
        const body = { ...(args.length > 0 && { parts: args }), ...(flags['all'] && { all: true }) }
        const response = await api('reset', { body })
        const text = `reset ${response.parts.join(', ')} of ${response.reset.join(', ')}\n`
        return { response, text }
      },
    },
  },
  examples: [
    'reset',
    'reset scenario clock',
    'reset --all',
    'reset --url http://127.0.0.1:4310/@w1',
  ],
})
