import { defineConfig } from 'vitest/config'
import { generate } from './src/tools/generate.mjs'
import { testProjects } from './test/support/projects.ts'

// This runs first, because the set-ups of the projects import what it generates.
await generate()

export default defineConfig({
  // Vite would take graphql's "module" build for our files while Node gives its dependents the main one: two copies, and each refuses the other's.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    setupFiles: ['test/support/fixtures/seed.ts', 'test/support/fixtures/eachTest.ts'],
    pool: 'forks',
    // One more than the two cores of a small machine, because tests also wait.
    maxWorkers: 3,
    // Files share a process, for importing the server anew for each would take a quarter of the time: none may mock a module.
    isolate: false,
    // On a machine that nobody watches: a test that passes the second time is shown as such ("retry x1"), to be mended.
    retry: process.env['CI'] === 'true' ? 1 : 0,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    teardownTimeout: 20_000,
    projects: testProjects(),
  },
})
