import { remoteCommand } from './remote.ts'

type Reset = { reset: string[]; parts: string[] }

export const reset = remoteCommand({
  name: 'reset',
  summary: 'put a running sandbox back to its fixtures, start clock and start scenario',
  verbs: {
    '': {
      takes: '[PART...]',
      flags: { all: ['', 'every client'] },
      does: 'back to the fixtures, start clock and start scenario, or only some parts, such as clock',
      async run(api, words, flags) {
        const answer: Reset = await api('POST', '/reset', {
          ...(words.length > 0 && { parts: words }),
          ...(flags['all'] && { all: true }),
        })
        const text = `reset ${answer.parts.join(', ')} of ${answer.reset.join(', ')}\n`
        return { answer, text }
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
