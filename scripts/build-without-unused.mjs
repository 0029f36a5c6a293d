// Leaves out of the bundle what libraries load or do at each start, and the sandbox never uses.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const throwsIfLoaded = "throw new Error('absent')"
const { defaultInitOptions } = require('fastify/lib/config-validator')

// The package debug loads supports-color only if it is installed, and Fastify loads the others only for a logger and for
// schemas that it compiles itself.
const ABSENT = [
  'supports-color',
  'pino',
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
]

/** What a module of this path is instead, if one of these files imports it. */
const INSTEAD = [
  ...ABSENT.map((path) => ({ path, contents: throwsIfLoaded })),
  // The sandbox serves neither of them, and loading them takes a tenth of a start.
  ...['node:http2', 'node:https'].map((path) => ({
    path,
    of: 'fastify/lib/server.js',
    contents: '',
  })),
  // For the address of a caller behind a proxy, which the sandbox never asks for.
  { path: '@fastify/proxy-addr', of: 'fastify/lib/request.js', contents: '' },
  // The SDK of MCP imports Ajv through this at once, for forms that our server never shows.
  {
    path: '@modelcontextprotocol/server/_shims',
    contents: 'exports.process = process; exports.DefaultJsonSchemaValidator = class {}',
  },
  // The options of our apps are fixed, and no route has a pattern.
  {
    path: './config-validator',
    of: 'fastify/lib/initial-config-validation.js',
    contents: `const defaults = ${JSON.stringify(defaultInitOptions)}
      module.exports = (options) => Object.assign(options, { ...defaults, ...options })
      module.exports.defaultInitOptions = defaults`,
  },
  { path: 'safe-regex2', of: 'find-my-way/index.js', contents: 'module.exports = () => true' },
  // No route has a constraint, and each would get a function that matches them.
  {
    path: './handler-storage',
    of: 'find-my-way/lib/node.js',
    contents: `const HandlerStorage = require('find-my-way/lib/handler-storage')
      HandlerStorage.prototype._compileGetHandlerMatchingConstraints = () => {}
      module.exports = HandlerStorage`,
  },
  // For the version of Fastify that a plugin needs: the lock file has both.
  {
    path: 'semver',
    of: 'fastify/lib/plugin-utils.js',
    contents: 'exports.satisfies = () => true',
  },
  // Both check what a route is made of; the module assert brings the comparison of any two values with it.
  ...[
    'fastify/lib/plugin-utils.js',
    'find-my-way/index.js',
    'find-my-way/lib/constrainer.js',
    'find-my-way/lib/strategies/accept-host.js',
    'find-my-way/lib/strategies/accept-version.js',
  ].map((of) => ({
    path: 'node:assert',
    of,
    contents: `module.exports = (value, message) => {
      if (!value) throw new Error(message)
    }`,
  })),
  // A class for each of a hundred errors: each is made when it is first thrown.
  ...['fastify/lib/errors.js', 'avvio/lib/errors.js'].map((of) => ({
    path: '@fastify/error',
    of,
    contents: `const { createError } = require('@fastify/error')
      module.exports = (...definition) => {
        let FastifyError
        return function onDemand(...args) {
          FastifyError ??= createError(...definition)
          return new FastifyError(...args)
        }
      }
      module.exports.createError = module.exports`,
  })),
]

/** The plugin of esbuild; `root` has node_modules. */
export const withoutUnused = (root) => ({
  name: 'without-unused',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ path, importer, namespace }) => {
      if (namespace !== 'file') return undefined
      const index = INSTEAD.findIndex(
        (one) => one.path === path && importer.replaceAll('\\', '/').endsWith(one.of ?? ''),
      )
      return index < 0 ? undefined : { path: `${index}`, namespace: 'instead' }
    })
    onLoad({ filter: /./, namespace: 'instead' }, ({ path }) => ({
      contents: INSTEAD[path].contents,
      resolveDir: root,
    }))
  },
})
