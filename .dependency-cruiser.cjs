// The floors, lowest first: a file imports only from its own floor and those below it.
const FLOORS = [
  '^src/model',
  '^src/assumptions',
  '^src/config',
  '^src/report',
  '^src/runtime',
  '^src/json',
  '^src/store',
  '^src/time',
  '^src/scenarios',
  '^src/tables',
  '^src/payouts',
  '^src/active-scenario',
  '^src/webhooks',
  '^src/requests',
  '^src/content',
  '^src/world',
  '^src/(http|log\\.ts)',
  '^src/routes',
  '^src/sandbox-app\\.ts',
  '^src/app\\.ts',
  '^src/((server|index|attached-sandbox)\\.ts|admin|mcp|replay)',
  '^src/(conform|sweep)',
  '^src/cli',
  '^src/bundle\\.ts',
]

const upward = FLOORS.flatMap((path, i) =>
  i === FLOORS.length - 1
    ? []
    : [
        {
          name: `floor ${path} imports from above`,
          severity: 'error',
          from: { path },
          to: { path: FLOORS.slice(i + 1) },
        },
      ],
)

module.exports = {
  forbidden: [
    ...upward,
    {
      name: 'no-circle',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'routes-apart',
      severity: 'error',
      from: { path: '^src/routes/admin' },
      to: { path: '^src/routes/v1' },
    },
    {
      // It runs in a browser: of the rest only words, from files that import nothing, and types, which vanish.
      name: 'console-apart',
      severity: 'error',
      from: { path: '^src/console' },
      to: {
        path: '^src',
        pathNot:
          '^src/(console|scenarios/operations-and-events\\.ts$|model/(admin-routes|delivery-result|feed-kinds|search)\\.ts$)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'nothing-imports-the-console',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/console' },
      to: { path: '^src/console' },
    },
    {
      name: 'http-only-above',
      severity: 'error',
      from: { path: FLOORS.slice(0, FLOORS.indexOf('^src/world') + 1) },
      to: { path: 'node_modules/(fastify|@fastify)' },
    },
    {
      // A command that only calls the admin API starts without the server's code, and so does the client of the library.
      name: 'commands-load-late',
      severity: 'error',
      from: {
        path: '^src/(cli|admin|bundle)',
        pathNot:
          '^src/(cli/(serve|check-files|generate-fixtures|generated-rows)|admin/admin-arguments)\\.ts',
      },
      to: {
        path: '^src/(cli/(serve|check-files|generate-fixtures|generated-rows)|admin/admin-arguments|index|runtime|json|store|time|tables|scenarios|active-scenario|payouts|webhooks|requests|content|world|http|log|routes|app|server|replay|conform|sweep)',
        dependencyTypesNot: ['dynamic-import', 'type-only'],
      },
    },
    {
      // A start loads neither the server for agents nor the SDK.
      name: 'mcp-loads-late',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/mcp' },
      to: {
        path: '^src/mcp|node_modules/@modelcontextprotocol',
        dependencyTypesNot: ['dynamic-import', 'type-only'],
      },
    },
    {
      name: 'lowdb-only-in-the-document',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/store/document\\.ts$' },
      to: { path: 'node_modules/lowdb' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'types'],
    },
  },
}
