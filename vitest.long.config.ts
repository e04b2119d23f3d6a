import base from './vitest.config.ts'

/** `npm run test:long`: what takes minutes, because it does the same to a whole system many times. */
export default {
  ...base,
  test: { ...base.test, include: ['test/long/**/*.long.ts'], testTimeout: 1_200_000, maxWorkers: 1 },
}
