import base from './vitest.config.ts'

const { projects: _, ...test } = base.test ?? {}

/** `npm run test:long`: what takes minutes, because it does the same to a whole system many times. */
export default {
  ...base,
  test: {
    ...test,
    include: ['test/long/**/*.long.ts'],
    globalSetup: ['test/support/fixtures/globalSetup.ts', 'test/support/fixtures/buildSetup.ts'],
    testTimeout: 1_200_000,
    maxWorkers: 1,
  },
}
