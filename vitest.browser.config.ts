import base from './vitest.config.ts'

const { projects: _, ...test } = base.test ?? {}

/** `npm run test:browser`: what a person sees in a browser. Needs Chromium: /usr/bin/chromium, or where XCE_TEST_CHROMIUM says. */
export default {
  ...base,
  test: {
    ...test,
    include: ['test/browser/**/*.browser.ts'],
    globalSetup: ['test/support/fixtures/globalSetup.ts'],
    testTimeout: 300_000,
  },
}
