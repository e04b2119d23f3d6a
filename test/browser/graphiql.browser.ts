import { existsSync, mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { placedReplicas } from '../support/drivers/apiService.ts'
import { HandWorker } from '../support/drivers/handWorker.ts'
import { TestServer } from '../support/drivers/testServer.ts'

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
async function visit(strange: string[] = [], options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 850 }, ...options })
  const page = await context.newPage()
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
    await context.close()
  })
  await page.goto(server.url)
  return page
}

async function signIn(page: Page, token = server.client.token ?? ''): Promise<void> {
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** A click as people make it: the pointer is not quite still between down and up, and nobody looks whether it had an effect. */
async function click(page: Page, target: Locator): Promise<void> {
  const box = await target.boundingBox()
  if (box === null) throw new Error('It is not shown.')
  const [x, y] = [box.x + box.width / 3, box.y + box.height / 2]
  await page.mouse.move(x, y, { steps: 3 })
  await page.mouse.down()
  await page.mouse.move(x + 5, y + 2, { steps: 3 })
  await page.mouse.up()
}

/** Opens a tab and executes it at once, and waits until the response shows a text. */
async function run(page: Page, tab: string, text: string): Promise<void> {
  await click(page, page.getByRole('tab', { name: tab }))
  await click(page, page.getByRole('button', { name: /^Execute query/ }))
  await shows(page, text)
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
  const [one, two] = await placedReplicas(server.client, 'hello', 2)

  await run(page, 'WatchEndpoint', '"SNAPSHOT"')
  // As the tab says: the other steps are taken in a second window meanwhile.
  const second = await page.context().newPage()
  await second.goto(server.url)
  await signIn(second)
  await second.getByText('Signed in as admin (admin)').waitFor()
  await worker.report({ replica: one?.id ?? '', state: 'RUNNING', ready: true })
  await shows(page, '"DELTA"')
  await shows(page, '"hostPort": "127.0.0.1:')
  await worker.report({ replica: two?.id ?? '', state: 'RUNNING', ready: true })
  await shows(page, '"index": 1')
  await page.screenshot(picture('3-watched'))

  await run(second, 'ScaleService', '"desiredReplicas": 3')
  const three = (await placedReplicas(server.client, 'hello', 3)).find(({ index }) => index === 2)
  await run(second, 'WhyNotReady', '"WAITING_FOR_READY"')
  await second.screenshot(picture('4-why'))
  await worker.report({ replica: three?.id ?? '', state: 'RUNNING', ready: true })
  await shows(page, '"index": 2')
  await click(page, page.getByRole('button', { name: /^Stop query/ }))
  await page.getByRole('button', { name: /^Execute query/ }).waitFor()

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

test('each click on a tab opens it, and what is executed then is that tab', async () => {
  const page = await visit()
  await signIn(page)
  await page.getByText('Signed in as admin').waitFor()
  const executed: string[] = []
  page.on('request', (request) => {
    const { query = '' } = (request.postDataJSON() ?? {}) as { query?: string }
    const name = /(?:query|mutation|subscription) (\w+)/.exec(query)?.[1] ?? ''
    if (['CreateService', 'ScaleService', 'WhyNotReady'].includes(name)) executed.push(name)
  })
  const wanted: string[] = []
  for (let round = 0; round < 4; round++) {
    for (const tab of ['CreateService', 'ScaleService', 'WhyNotReady']) {
      await click(page, page.getByRole('tab', { name: tab }))
      await click(page, page.getByRole('button', { name: /^Execute query/ }))
      wanted.push(tab)
      await expect.poll(() => executed, { timeout: 20_000 }).toEqual(wanted)
      await page.getByRole('button', { name: /^Execute query/ }).waitFor()
    }
  }
})

test('after the sign-in one can type, and Ctrl-Enter executes what stands there, wherever the focus is', async () => {
  const page = await visit()
  await page.getByLabel('Token').fill(server.client.token ?? '')
  await page.keyboard.press('Enter')
  await page.getByText('Signed in as admin').waitFor()
  await expect
    .poll(() => page.evaluate("document.activeElement?.closest('.graphiql-query-editor') !== null"))
    .toBe(true)
  await page.keyboard.press('Control+a')
  // Typed over a selection, a bracket would enclose it.
  await page.keyboard.press('Delete')
  await page.keyboard.type('{ viewer { subject } }')
  await page.keyboard.press('Control+Enter')
  await shows(page, '"subject": "admin"')
  await click(page, page.getByRole('tab', { name: 'WhyNotReady' }))
  await page.keyboard.press('Control+Enter')
  await shows(page, '"service": null')
})

test('on a phone the page is as wide as the screen', async () => {
  const page = await visit([], { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true })
  await page.getByLabel('Token').waitFor()
  await page.screenshot(picture('5-phone-sign-in'))
  await signIn(page)
  await page.getByText('Signed in as admin').waitFor()
  expect(await page.evaluate('[innerWidth, document.documentElement.scrollWidth]')).toEqual([390, 390])
  await page.getByRole('tab', { name: 'WhyNotReady' }).tap()
  await page.getByRole('button', { name: /^Execute query/ }).tap()
  await shows(page, '"service": null')
  await page.screenshot(picture('6-phone'))
  // The editor and the answer are one above the other.
  const widthOf = async (part: string) => (await page.locator(part).boundingBox())?.width
  for (const part of ['.graphiql-editors', '.graphiql-response']) expect(await widthOf(part)).toBeGreaterThan(280)
})

test.each(['dark', 'light'] as const)('where the system is %s, so are all parts of the page', async (colorScheme) => {
  const page = await visit([], { colorScheme })
  await page.getByLabel('Token').waitFor()
  await page.screenshot(picture(`7-${colorScheme}-sign-in`))
  await expectShade(page, '#sign-in', colorScheme)
  await signIn(page)
  await page.getByText('Signed in as admin').waitFor()
  await page.screenshot(picture(`8-${colorScheme}`))
  for (const part of ['body', '#session']) await expectShade(page, part, colorScheme)
  // Chosen in GraphiQL's settings, the theme counts for the whole page as well.
  const other = colorScheme === 'dark' ? 'light' : 'dark'
  await page.getByRole('button', { name: 'Open settings dialog' }).click()
  await page.getByRole('dialog').getByRole('button', { name: other, exact: false }).click()
  for (const part of ['body', '#session', '#sign-in']) await expectShade(page, part, other)
})

/** The background of a part of the page, from 0 (black) to 255. */
async function expectShade(page: Page, selector: string, scheme: 'dark' | 'light'): Promise<void> {
  const shade = () =>
    page.evaluate(
      `Math.max(...getComputedStyle(document.querySelector('${selector}')).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number))`,
    )
  if (scheme === 'dark') await expect.poll(shade).toBeLessThan(100)
  else await expect.poll(shade).toBeGreaterThan(200)
}
