import { existsSync, mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { placedReplicas } from '../support/drivers/apiService.ts'
import { HandWorker } from '../support/drivers/handWorker.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'

const output = fileURLToPath(new URL('../output/', import.meta.url))
/** Where systems have Chromium, or what is made of it. */
const browsers = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'].map(
  (name) => `/usr/bin/${name}`,
)
const picture = (name: string) => ({ path: `${output}graphiql-${name}.png` })

let server: TestServer
let browser: Browser
beforeAll(async () => {
  mkdirSync(output, { recursive: true })
  browser = await chromium.launch({
    executablePath:
      process.env['XCE_TEST_CHROMIUM'] ?? browsers.find((file) => existsSync(file)) ?? '/usr/bin/chromium',
    timeout: 120_000,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
})
afterAll(() => browser?.close())
// For each try of a test anew: what it creates has a name.
beforeEach(async () => {
  server = await TestServer.start()
})
afterEach(() => server.stop())

/** A browser session of its own. `strange` gets what should not happen: requests to elsewhere, refused scripts, errors in the page. */
async function visit(strange: string[] = []): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1400, height: 850 } })
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol !== 'data:' && protocol !== 'blob:' && origin !== new URL(server.url).origin)
      strange.push(request.url())
  })
  page.on('pageerror', (error) => strange.push(String(error)))
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) strange.push(message.text())
  })
  page.setDefaultTimeout(60_000)
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') await page.screenshot(picture('failed'))
    await page.context().close()
  })
  await page.goto(server.url)
  return page
}

async function signIn(page: Page, token = server.client.token ?? ''): Promise<void> {
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/**
 * Opens a tab and executes it, until the response shows a text. For a moment after a tab was opened GraphiQL may still have the last one's
 * operation in mind, and says that it can't infer it: then it is executed again, as a person would.
 */
async function run(page: Page, tab: string, text: string): Promise<void> {
  const editor = page.locator('.graphiql-query-editor .view-lines').filter({ hasText: tab })
  // A tab can be dragged, and while the page is busy it may take a click for the beginning of that.
  await until(async () => {
    await page.getByRole('tab', { name: tab }).click()
    return editor.waitFor({ timeout: 2_000 }).then(
      () => true,
      () => false,
    )
  }, `the tab ${tab} opens`)
  const execute = page.getByRole('button', { name: /^Execute query/ })
  const [wanted, refused] = [response(page, text), response(page, 'Cannot infer operation')]
  await execute.click()
  await until(async () => {
    await wanted.or(refused).waitFor()
    if (await wanted.isVisible()) return true
    await execute.click()
    await refused.waitFor({ state: 'hidden', timeout: 2_000 }).catch(() => undefined)
    return false
  }, `${tab} shows ${text}`)
}

/** The response that shows a text. The editor draws spaces as no-break spaces. */
function response(page: Page, text: string): Locator {
  return page.locator('.result-window .view-lines').filter({ hasText: text })
}

async function shows(page: Page, text: string): Promise<void> {
  await response(page, text).waitFor()
}

test('signs in, creates a service, watches its endpoint change, and nothing leaves the server', async () => {
  const strange: string[] = []
  const page = await visit(strange)
  const worker = new HandWorker(server.client)
  await worker.register()

  await signIn(page, 'wrong')
  await page.getByText('The server does not know this token.').waitFor()
  await page.screenshot(picture('1-sign-in'))
  await signIn(page)
  await page.getByText('Signed in as admin (admin)').waitFor()
  for (const name of ['CreateService', 'WatchEndpoint', 'ScaleService', 'WhyNotReady'])
    await page.getByRole('tab', { name }).waitFor()

  await run(page, 'CreateService', '"desiredReplicas": 2')
  await page.screenshot(picture('2-created'))
  const [first, second] = await placedReplicas(server.client, 'hello', 2)

  await run(page, 'WatchEndpoint', '"SNAPSHOT"')
  await worker.report({ replica: first?.id ?? '', state: 'RUNNING', ready: true })
  await shows(page, '"DELTA"')
  await shows(page, '"hostPort": "127.0.0.1:')
  await worker.report({ replica: second?.id ?? '', state: 'RUNNING', ready: true })
  await shows(page, '"index": 1')
  await page.screenshot(picture('3-watched'))
  await page.getByRole('button', { name: /^Stop query/ }).click()

  await run(page, 'ScaleService', '"desiredReplicas": 3')
  await placedReplicas(server.client, 'hello', 3)
  await run(page, 'WhyNotReady', '"WAITING_FOR_READY"')
  await page.screenshot(picture('4-why'))

  expect(strange).toEqual([])
})

test('the token lasts as long as the browser session, and is nowhere else', async () => {
  const page = await visit()
  await signIn(page)
  await page.getByText('Signed in as admin').waitFor()
  await run(page, 'WhyNotReady', '"data"')
  await page.reload()
  await page.getByText('Signed in as admin').waitFor()
  const token = server.client.token
  expect(token).toBeTruthy()
  // The functions run in the page.
  expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain(token)
  expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).toContain(token)
  expect(page.url()).not.toContain(token)

  const other = await visit()
  await other.getByLabel('Token').waitFor()

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Token').waitFor()
  expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain(token)
})
