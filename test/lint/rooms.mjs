// This table says which room of src/ may import which rooms and packages. Everything that it does not list is refused, imports
// of types too; `npm run lint:layers` checks it. A room is a folder or a file, by its path in src/. Files in a sub-room that
// has a line of its own do not belong to the room around it.
//
// The rooms stand from the ground up, and each lists only rooms that stand before it, so that imports go down.
// `a/**` means a and its sub-rooms, and `node:` means Node's own modules. A room is pure when it lists no `node:` and
// no package that does I/O.

/**
 * @typedef {object} Room
 * @property {readonly string[]} rooms the rooms that its files may import
 * @property {readonly string[]} packages the packages that its files may import
 */

/** @type {Readonly<Record<string, Room>>} */
export const rooms = {
  // The types and words are pure.
  generated: { rooms: [], packages: ['node:', '@prisma/client', '@prisma/adapter-pg', '@pothos/plugin-prisma'] },
  model: { rooms: ['generated'], packages: [] },

  // The decisions are pure.
  'rules/draft': { rooms: ['generated', 'model'], packages: [] },
  'rules/hosts': { rooms: ['generated', 'model'], packages: [] },
  'rules/retention': { rooms: ['model'], packages: [] },
  'rules/version': { rooms: ['generated', 'model', 'rules/draft'], packages: ['@noble/hashes'] },
  'rules/endpoint': { rooms: ['model', 'rules/draft'], packages: [] },
  'rules/placement': { rooms: ['generated', 'model', 'rules/draft'], packages: [] },
  'rules/blocker': { rooms: ['generated', 'model', 'rules/draft'], packages: [] },
  'rules/replica': { rooms: ['generated', 'model', 'rules/draft', 'rules/endpoint', 'rules/blocker'], packages: [] },
  'rules/waiting': { rooms: ['generated', 'model', 'rules/draft', 'rules/blocker', 'rules/replica'], packages: [] },
  'rules/rollout': {
    rooms: ['generated', 'model', 'rules/draft', 'rules/version', 'rules/blocker', 'rules/replica', 'rules/waiting'],
    packages: ['tinyqueue'],
  },
  'rules/service': { rooms: ['generated', 'model', 'rules/draft', 'rules/version', 'rules/rollout'], packages: [] },
  'rules/commit': { rooms: ['generated', 'model', 'rules/**'], packages: [] },

  // The simulation plays the decisions on a virtual clock. It is pure except for the files of scenarios.
  simulation: { rooms: ['generated', 'model', 'rules/**'], packages: ['tinyqueue'] },
  'simulation/scenarioFile': {
    rooms: ['model', 'rules/**', 'simulation'],
    packages: ['picocolors', 'yaml', 'zod'],
  },
  'simulate.ts': { rooms: ['simulation/**'], packages: ['node:', 'picocolors'] },

  // The server and the worker share how files are locked and written, how settings are declared and read, and how lines are logged.
  files: { rooms: [], packages: ['node:', 'fs-native-extensions'] },
  settings: { rooms: [], packages: ['pino', 'pino-pretty', 'zod'] },
  signals: { rooms: [], packages: [] },

  // The store is the only room that opens transactions.
  'store/database': {
    rooms: ['generated', 'model', 'files'],
    packages: ['node:', '@electric-sql/pglite', '@prisma/adapter-pg', 'pg', 'pino'],
  },
  'store/rows': { rooms: ['generated', 'model'], packages: [] },
  'store/access': { rooms: ['model', 'store/database'], packages: ['node:'] },
  'store/read': {
    rooms: ['generated', 'model', 'rules/**', 'store/database', 'store/rows'],
    packages: [],
  },
  'store/commit': {
    rooms: ['generated', 'model', 'rules/**', 'store/database', 'store/rows', 'store/read'],
    packages: ['node:', 'lru-cache', 'pino'],
  },
  'store/retention': { rooms: ['model', 'rules/retention', 'store/database'], packages: [] },
  'store/transfer': { rooms: ['model', 'store/database', 'store/rows'], packages: ['node:', 'pino'] },

  // The feed follows the facts.
  feed: { rooms: ['generated', 'model', 'rules/**', 'store/**'], packages: ['node:', 'pino'] },

  // The worker talks to the server through the API only.
  worker: { rooms: ['model'], packages: [] },
  'worker/machine': { rooms: ['model', 'files', 'worker'], packages: ['node:'] },
  'worker/files': { rooms: ['model', 'files', 'worker', 'worker/machine'], packages: ['node:', 'pino'] },
  'worker/settings': {
    rooms: ['model', 'settings', 'worker/machine', 'worker/files'],
    packages: ['node:', 'pino', 'zod'],
  },
  'worker/probe': { rooms: ['model', 'worker', 'worker/machine'], packages: ['node:'] },
  'worker/process': {
    rooms: ['model', 'files', 'worker', 'worker/machine', 'worker/files', 'worker/probe'],
    packages: ['node:', 'pino'],
  },
  'worker/link': {
    rooms: ['model', 'files', 'worker', 'worker/machine', 'worker/files', 'worker/settings', 'worker/process'],
    packages: ['node:', 'graphql-ws', 'pino', 'ws'],
  },
  'worker/drain': {
    rooms: ['files', 'worker/machine', 'worker/process', 'worker/link'],
    packages: ['node:', 'pino'],
  },
  // The parts of a worker, put together once for the program and for tests.
  'worker/parts': {
    rooms: ['worker/machine', 'worker/settings', 'worker/process', 'worker/link', 'worker/drain'],
    packages: ['pino'],
  },
  'worker.ts': { rooms: ['worker/**'], packages: ['node:'] },

  // The server's settings include those of the worker on its machine.
  config: { rooms: ['model', 'settings', 'worker/settings'], packages: ['node:', 'zod'] },

  // Time enters the system here.
  'systems/timers': { rooms: ['model', 'store/**', 'feed'], packages: ['pino'] },
  'systems/logs': { rooms: ['model', 'store/**', 'feed'], packages: ['node:', 'pino'] },
  'systems/tokens': { rooms: ['store/**', 'feed'], packages: ['node:'] },
  'systems/localWorker': { rooms: ['config', 'files'], packages: ['node:', 'pino'] },
  'systems/retention': {
    rooms: ['model', 'store/**', 'feed', 'systems/timers'],
    packages: ['pino'],
  },
  'systems/placement': {
    rooms: ['model', 'rules/**', 'simulation', 'store/**', 'feed', 'systems/timers'],
    packages: ['pino'],
  },
  'systems/warnings': { rooms: ['rules/**'], packages: ['pino'] },
  'systems/workers': {
    rooms: [
      'generated',
      'model',
      'config',
      'rules/**',
      'store/**',
      'feed',
      'systems/timers',
      'systems/logs',
      'systems/warnings',
    ],
    packages: ['pino'],
  },
  systems: { rooms: ['model', 'store/**', 'feed', 'config', 'systems/**'], packages: ['pino'] },

  // The API has one room for each noun.
  'graphql/kit': {
    rooms: ['generated', 'model', 'store/**', 'feed', 'systems'],
    packages: [
      'node:',
      '@pothos/core',
      '@pothos/plugin-dataloader',
      '@pothos/plugin-errors',
      '@pothos/plugin-prisma',
      '@pothos/plugin-relay',
      '@pothos/plugin-scope-auth',
      'dataloader',
      'graphql',
      'zod',
    ],
  },
  'graphql/viewer': { rooms: ['graphql/kit'], packages: [] },
  'graphql/worker': { rooms: ['generated', 'model', 'graphql/kit'], packages: [] },
  'graphql/event': { rooms: ['generated', 'graphql/kit'], packages: [] },
  'graphql/rollout': { rooms: ['generated', 'model', 'systems/**', 'graphql/kit'], packages: [] },
  'graphql/content': { rooms: ['generated', 'model', 'rules/**', 'graphql/kit'], packages: ['zod'] },
  'graphql/replica': {
    rooms: ['generated', 'model', 'systems/**', 'graphql/kit', 'graphql/worker', 'graphql/content'],
    packages: [],
  },
  'graphql/catalogue': {
    rooms: ['generated', 'model', 'rules/**', 'store/**', 'graphql/kit', 'graphql/content'],
    packages: ['zod'],
  },
  'graphql/endpoint': { rooms: ['model', 'store/**', 'graphql/kit', 'graphql/content'], packages: [] },
  'graphql/host': {
    rooms: [
      'generated',
      'model',
      'rules/**',
      'systems/**',
      'graphql/kit',
      'graphql/worker',
      'graphql/content',
      'graphql/replica',
      'graphql/catalogue',
    ],
    packages: [],
  },
  'graphql/service': {
    rooms: [
      'generated',
      'model',
      'rules/**',
      'simulation',
      'systems/**',
      'graphql/kit',
      'graphql/event',
      'graphql/rollout',
      'graphql/content',
      'graphql/replica',
      'graphql/catalogue',
      'graphql/endpoint',
    ],
    packages: ['zod'],
  },
  'graphql/subscribe': {
    rooms: [
      'generated',
      'model',
      'store/**',
      'feed',
      'systems/logs',
      'graphql/kit',
      'graphql/event',
      'graphql/replica',
      'graphql/endpoint',
      'graphql/host',
      'graphql/service',
    ],
    packages: ['graphql'],
  },
  'graphql/workerProtocol': {
    rooms: [
      'model',
      'store/**',
      'feed',
      'systems/**',
      'graphql/kit',
      'graphql/content',
      'graphql/replica',
      'graphql/subscribe',
    ],
    packages: [],
  },
  graphql: { rooms: ['graphql/**'], packages: [] },

  // HTTP carries the API.
  http: {
    rooms: ['model', 'store/**', 'systems/**', 'graphql/**'],
    packages: [
      'node:',
      '@graphql-yoga/render-graphiql',
      'graphql',
      'graphql-sse',
      'graphql-ws',
      'graphql-yoga',
      'lru-cache',
      'pino',
      'prom-client',
      'uuid',
      'ws',
    ],
  },

  // The server puts all parts together.
  server: {
    rooms: ['config', 'settings', 'files', 'signals', 'store/**', 'feed', 'systems/**', 'graphql', 'http'],
    packages: ['node:', 'pino', 'uuid'],
  },
  'server.ts': { rooms: ['server'], packages: ['node:'] },

  // These stand beside the server. The demo uses the API as any client does.
  demo: { rooms: [], packages: ['node:', 'cli-table3', 'graphql-ws', 'picocolors', 'ws'] },
  'demo.ts': { rooms: ['demo', 'signals'], packages: ['node:', 'picocolors'] },
  bin: { rooms: [], packages: ['node:'] },
  tools: {
    rooms: ['config', 'store/**', 'graphql'],
    packages: [
      'node:',
      '@electric-sql/pglite',
      '@graphql-inspector/core',
      '@prisma/driver-adapter-utils',
      '@prisma/schema-engine-wasm',
      'graphql',
      'pglite-prisma-adapter',
      'pino',
      'pino-pretty',
      'vite',
    ],
  },
}
