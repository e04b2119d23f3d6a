import base from './vitest.config.ts'

/** `npm run test:browser`: what a person sees in a browser. Needs Chromium: /usr/bin/chromium, or where XCE_TEST_CHROMIUM says. */
export default { ...base, test: { ...base.test, include: ['test/browser/**/*.browser.ts'], testTimeout: 300_000 } }
