// The floors, lowest first: a file imports only from its own floor and those below it.
const FLOORS = [
  '^src/(model|assumptions)',
  '^src/(config|runtime)',
  '^src/(store|time)',
  '^src/(scenarios|tables)',
  '^src/(payouts|active-scenario|webhooks)',
  '^src/(requests|content|world)',
  '^src/(http|routes|(app|sandbox-app)\\.ts)',
  '^src/(admin|tools/(mcp|coverage|conform|report|(faults|reconcile|summary)\\.ts)|(server|index)\\.ts)',
  '^src/tools/(sweep|read-books|check-files|generated-rows)',
  '^src/(cli|(bundle|tools)\\.ts)',
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
      from: { path: '^src/tools/console' },
      to: {
        path: '^src',
        pathNot:
          '^src/(tools/console|tools/(counting|faults)\\.ts$|scenarios/operations-and-events\\.ts$|model/(admin-routes|delivery-result|duration|feed-kinds|search)\\.ts$)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      // The tools stand on the core. Commands run them, and the server loads what counts coverage when it's on.
      name: 'core-without-tools',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/(tools|cli|(server|bundle)\\.ts$)' },
      to: { path: '^src/tools' },
    },
    {
      name: 'nothing-imports-the-console',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/tools/console' },
      to: { path: '^src/tools/console' },
    },
    {
      name: 'http-only-above',
      severity: 'error',
      from: { path: FLOORS.slice(0, 6) },
      to: { path: 'node_modules/(fastify|@fastify)' },
    },
    {
      // A command that only calls the admin API starts without the server's code, and so does the client of the library.
      name: 'commands-load-late',
      severity: 'error',
      from: {
        path: '^src/(cli|admin|bundle)',
        pathNot: '^src/(cli/(serve|sweep-run)|admin/admin-arguments)\\.ts',
      },
      to: {
        path: '^src/(cli/(serve|sweep-run)|admin/admin-arguments|index|runtime|store|time|tables|scenarios|active-scenario|payouts|webhooks|requests|content|world|http|log|routes|app|server|tools/(conform|coverage|reconcile|summary|sweep|read-books|check-files|generated-rows))',
        dependencyTypesNot: ['dynamic-import', 'type-only'],
      },
    },
    {
      // A start loads neither the server for agents nor the SDK.
      name: 'mcp-loads-late',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/tools/mcp' },
      to: {
        path: '^src/tools/mcp|node_modules/@modelcontextprotocol',
        dependencyTypesNot: ['dynamic-import', 'type-only'],
      },
    },
    {
      name: 'lowdb-only-in-the-data-file',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/store/(document|data-file)\\.ts$' },
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
