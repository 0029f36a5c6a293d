// Parses the Dockerfile, and can run its steps in a chroot if buildah is not available.
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, posix, relative } from 'node:path'
import { run, runAs } from './process.mjs'

const JSON_FORM = /^\[.*\]$/

/**
 * Parses the stages of a Dockerfile, each with its base, its name and its steps `{ word, rest, line }`.
 * @throws on a step before the first FROM
 */
export function readDockerfile(text) {
  const stages = []
  let next = 1
  // A backslash at the end continues a line.
  for (const lines of text.split(/(?<!\\)\n/)) {
    const line = next
    next += lines.split('\n').length
    const step = lines.replaceAll('\\\n', ' ').trim()
    if (step === '' || step.startsWith('#')) continue
    const [, word, rest] = /^([A-Za-z]+)\s+(.*)$/.exec(step) ?? []
    if (word === undefined) throw new Error(`Dockerfile:${line}: not a step: ${step}`)
    if (word === 'FROM') {
      const [base, as, name] = rest.split(/\s+/)
      stages.push({ base, name: as?.toUpperCase() === 'AS' ? name : undefined, steps: [] })
    } else if (stages.length === 0)
      throw new Error(`Dockerfile:${line}: ${word} must follow a FROM`)
    else stages.at(-1).steps.push({ word, rest, line })
  }
  return stages
}

const list = ({ rest, word, line }) => {
  if (!JSON_FORM.test(rest))
    throw new Error(`Dockerfile:${line}: ${word} takes a JSON array, not ${rest}`)
  return JSON.parse(rest)
}

// How each step except RUN and COPY changes the config of the image.
const CONFIG_STEPS = {
  WORKDIR: (config, { rest }) => {
    config.WorkingDir = posix.resolve(config.WorkingDir, rest)
  },
  USER: (config, { rest }) => {
    config.User = rest
  },
  ENV: (config, { rest, line }) => {
    for (const pair of rest.split(/\s+/)) {
      if (!/^\w+=[^"'\\$]*$/.test(pair))
        throw new Error(`Dockerfile:${line}: only plain NAME=value is supported here, not ${pair}`)
      config.Env.push(pair)
    }
  },
  VOLUME: (config, { rest }) => {
    for (const path of rest.split(/\s+/)) config.Volumes[path] = {}
  },
  EXPOSE: (config, { rest }) => {
    for (const port of rest.split(/\s+/)) config.ExposedPorts[`${port}/tcp`] = {}
  },
  STOPSIGNAL: (config, { rest }) => {
    config.StopSignal = rest
  },
  HEALTHCHECK: (config, step) => {
    const [, command] = /^(?:--\S+\s+)*CMD\s+(.*)$/.exec(step.rest) ?? []
    config.Healthcheck = { Test: ['CMD', ...list({ ...step, rest: command ?? step.rest })] }
  },
  ENTRYPOINT: (config, step) => {
    config.Entrypoint = list(step)
  },
  CMD: (config, step) => {
    config.Cmd = list(step)
  },
}

/** The config of an image before any step, with the field names of Docker. */
const emptyConfig = (env) => ({
  User: '',
  Env: [...env],
  WorkingDir: '/',
  Volumes: {},
  ExposedPorts: {},
})

/**
 * The config after all steps of a stage, with the field names of Docker.
 * @throws on an unsupported step
 */
export function configOf(stage, env) {
  const config = emptyConfig(env)
  for (const step of stage.steps) {
    if (step.word === 'RUN' || step.word === 'COPY') continue
    const apply = CONFIG_STEPS[step.word]
    if (apply === undefined)
      throw new Error(`Dockerfile:${step.line}: ${step.word} is not supported here`)
    apply(config, step)
  }
  return config
}

function ignoredNames(context) {
  const file = join(context, '.dockerignore')
  const names = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  for (const name of names)
    if (/[*?!#]/.test(name))
      throw new Error(`.dockerignore: only plain paths are supported here, not ${name}`)
  return new Set(names)
}

function copy({ rest, line }, config, { root, context, made }) {
  const words = rest.split(/\s+/)
  const [, from] = /^--from=(.*)$/.exec(words[0]) ?? []
  if (from !== undefined) words.shift()
  if (words[0].startsWith('--'))
    throw new Error(`Dockerfile:${line}: ${words[0]} is not supported here`)
  if (from !== undefined && !made.has(from))
    throw new Error(`Dockerfile:${line}: there is no stage ${from}`)
  const to = words.pop()
  const target = join(root, posix.resolve(config.WorkingDir, to))
  const ignored = from === undefined ? ignoredNames(context) : new Set()
  for (const name of words) {
    const source = join(from === undefined ? context : made.get(from), name)
    if (ignored.has(name)) throw new Error(`Dockerfile:${line}: .dockerignore excludes ${name}`)
    // Copies the content of a folder; copies a file into a folder or to the given name.
    const destination =
      statSync(source).isFile() && (to.endsWith('/') || existsSync(target))
        ? join(target, basename(name))
        : target
    const isCopied = (path) => !ignored.has(relative(context, path))
    cpSync(source, destination, { recursive: true, filter: isCopied })
  }
}

/**
 * Runs the steps in chroots that are copies of the folder `base`, in the folder `work`.
 * @returns the folder and the config of the last stage
 */
export function buildInChroot({ text, context, base, env, work }) {
  const made = new Map()
  let last
  for (const [at, stage] of readDockerfile(text).entries()) {
    const root = join(work, `stage-${at}`)
    run('cp', ['-a', made.get(stage.base) ?? base, root])
    // Computed before any step runs, so that an unsupported step fails early.
    const final = configOf(stage, env)
    const config = emptyConfig(env)
    for (const step of stage.steps) {
      console.log(`  ${step.word} ${step.rest}`)
      if (step.word === 'COPY') copy(step, config, { root, context, made })
      else if (step.word === 'RUN') {
        run('mount', ['-t', 'proc', 'proc', join(root, 'proc')])
        try {
          runAs({ root, user: config.User, env: config.Env, cwd: config.WorkingDir }, [
            '/bin/sh',
            '-c',
            step.rest,
          ])
        } finally {
          run('umount', [join(root, 'proc')])
        }
      } else {
        CONFIG_STEPS[step.word](config, step)
        if (step.word === 'WORKDIR') mkdirSync(join(root, config.WorkingDir), { recursive: true })
      }
    }
    if (stage.name !== undefined) made.set(stage.name, root)
    last = { root, config: final }
  }
  return last
}
