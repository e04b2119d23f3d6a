// Which room of src/ may import which, and which packages: all that is not listed is refused, imports of types too. `npm run lint:layers`
// holds it. A room is a folder or a file by its path in src/; what lies in a sub-room that is listed itself does not belong to the room around it.
//
// The rooms stand from the ground up: one lists what stands before it only, so that imports go down, and the few that go up have a field of
// their own. `a/**` are a and its sub-rooms. `node:` are Node's own modules; a room that lists neither these nor packages is pure.

/**
 * @typedef {object} Room
 * @property {readonly string[]} rooms that its files may import, beside each other
 * @property {readonly string[]} packages
 * @property {readonly string[]} [upward] that stand after it and that it imports all the same: it and those know each other
 */

/** @type {Readonly<Record<string, Room>>} */
export const rooms = {
  // The words. Pure.
  generated: { rooms: [], packages: ['node:', '@prisma/client', '@prisma/adapter-pg', '@pothos/plugin-prisma'] },
  model: { rooms: ['generated'], packages: [] },

  // The decisions. Pure.
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

  // The decisions on a virtual clock. Pure, but for the file of a scenario.
  simulation: { rooms: ['generated', 'model', 'rules/**'], packages: ['tinyqueue'] },
  'simulation/scenarioFile': {
    rooms: ['generated', 'model', 'rules/**', 'simulation'],
    packages: ['picocolors', 'yaml', 'zod'],
  },
  'simulate.ts': { rooms: ['simulation/**'], packages: ['node:', 'picocolors'] },

  // What the server and the worker share.
  files: { rooms: ['model'], packages: ['node:', 'fs-native-extensions'] },
  settings: { rooms: ['model', 'files'], packages: ['node:', 'zod'] },

  // The database.
  'store/database': {
    rooms: ['generated', 'model', 'files'],
    packages: ['node:', '@electric-sql/pglite', '@prisma/adapter-pg', 'fs-native-extensions', 'pg', 'pino'],
  },
  'store/rows': { rooms: ['generated', 'model'], packages: [] },
  'store/access': { rooms: ['model', 'store/database'], packages: ['node:'] },
  'store/read': {
    rooms: ['generated', 'model', 'rules/**', 'store/database', 'store/rows'],
    packages: ['node:'],
  },
  'store/commit': {
    rooms: ['generated', 'model', 'rules/**', 'store/database', 'store/rows', 'store/read'],
    packages: ['node:', 'lru-cache', 'pino'],
  },
  'store/retention': { rooms: ['model', 'rules/retention', 'store/database'], packages: ['node:'] },
  'store/transfer': { rooms: ['model', 'store/database', 'store/rows'], packages: ['node:', 'pg', 'pino'] },

  // Who follows the facts.
  feed: { rooms: ['generated', 'model', 'rules/**', 'store/**'], packages: ['node:', 'pino'] },

  // The worker talks to the server through the API only.
  worker: { rooms: ['model'], packages: ['node:', 'pino'] },
  'worker/machine': { rooms: ['model', 'files', 'worker'], packages: ['node:'] },
  'worker/files': { rooms: ['model', 'files', 'worker', 'worker/machine'], packages: ['node:', 'pino'] },
  'worker/settings': {
    rooms: ['model', 'files', 'settings', 'worker', 'worker/machine', 'worker/files'],
    packages: ['node:', 'pino', 'pino-pretty', 'zod'],
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
    rooms: ['model', 'files', 'worker', 'worker/machine', 'worker/files', 'worker/process', 'worker/link'],
    packages: ['node:', 'pino'],
  },
  'worker.ts': { rooms: ['worker/**'], packages: ['node:'] },

  // Settings of the server, and of the worker on its machine.
  config: { rooms: ['model', 'settings', 'worker/settings'], packages: ['node:', 'zod'] },

  // Where time enters.
  'systems/timers': { rooms: ['model', 'store/**', 'feed'], packages: ['node:', 'pino'] },
  'systems/logs': { rooms: ['model', 'store/**'], packages: ['node:', 'pino'] },
  'systems/tokens': { rooms: ['model', 'store/**', 'feed'], packages: ['node:', 'pino'] },
  'systems/localWorker': { rooms: ['config', 'files'], packages: ['node:', 'pino'] },
  'systems/retention': {
    rooms: ['model', 'rules/**', 'store/**', 'feed', 'systems/timers'],
    packages: ['node:', 'pino'],
  },
  'systems/placement': {
    rooms: ['generated', 'model', 'rules/**', 'simulation', 'store/**', 'feed', 'systems/timers'],
    packages: ['node:', 'pino'],
  },
  'systems/workers': {
    rooms: ['generated', 'model', 'rules/**', 'store/**', 'feed', 'config', 'systems/timers', 'systems/logs'],
    upward: ['systems'],
    packages: ['node:', 'pino'],
  },
  systems: { rooms: ['model', 'store/**', 'feed', 'config', 'systems/**'], packages: ['pino'] },

  // The API.
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
  'graphql/worker': { rooms: ['generated', 'graphql/kit'], packages: [] },
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
      'graphql/kit',
      'graphql/event',
      'graphql/endpoint',
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
      'graphql/worker',
      'graphql/content',
      'graphql/host',
      'graphql/subscribe',
    ],
    packages: ['zod'],
  },
  graphql: { rooms: ['graphql/**'], packages: [] },

  // What carries it.
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

  // The whole.
  server: {
    rooms: ['config', 'files', 'model', 'store/**', 'feed', 'systems/**', 'graphql', 'http'],
    packages: ['node:', 'pino', 'pino-pretty', 'uuid'],
  },
  'server.ts': { rooms: ['server'], packages: ['node:'] },

  // Beside it. The demo knows the API as any client does.
  demo: { rooms: [], packages: ['node:', 'cli-table3', 'graphql-ws', 'picocolors', 'ws'] },
  'demo.ts': { rooms: ['demo'], packages: ['node:', 'picocolors'] },
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

/**
 * Circles of files that import each other, types included. There were these when the linter began to look; none may be added, and one that is
 * gone must leave the list.
 * @type {readonly (readonly string[])[]}
 */
export const knownCircles = []
