import { execFile } from 'node:child_process'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { revisionRaise } from '../../src/store/transfer/restored.ts'
import { firstFrames } from '../feed/subscriber.ts'
import { aliveReplicas, createService, placedReplicas } from '../support/drivers/apiService.ts'
import { HandWorker } from '../support/drivers/handWorker.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { built } from '../support/fixtures/built.ts'

const scratch = mkdtempSync(path.join(tmpdir(), 'xce-tools-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

interface Ended {
  readonly code: number
  readonly said: string
}

/** Runs a tool as users do, over the embedded database in `directory`. */
function run(tool: 'dump' | 'load', directory: string, ...args: string[]): Promise<Ended> {
  const env = { PATH: process.env['PATH'], XCE_DATA_DIR: directory }
  return new Promise((resolve) => {
    execFile(process.execPath, [built(`tools/${tool}.js`), ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), said: `${stdout}${stderr}` })
    })
  })
}

const followed = {
  endpointChanged: '(service: "moved", after: $after) { kind revision endpoint { addresses { id } } }',
  servicesChanged: '(after: $after) { kind revision services { name } }',
  eventAdded: '(after: $after) { kind revision events { message } }',
}

test('a stopped server’s data is dumped and loaded into a new database; the next server adopts what runs and starts nothing', async () => {
  let server = await TestServer.start()
  const worker = new HandWorker(server.client, 'moved')
  await worker.register()
  await createService(server.client, 'moved', 3)
  const placed = await placedReplicas(server.client, 'moved', 3)
  const running = placed.map(({ id }) => ({ replica: id, state: 'RUNNING', ready: true }) as const)
  await worker.report(...running)
  const before = await aliveReplicas(server.client, 'moved')
  const had = await firstFrames(server.client, followed, null)

  const file = path.join(scratch, 'data.xce')
  const busy = await run('dump', server.app.config.dataDirectory, file)
  expect(busy).toMatchObject({ code: 1, said: expect.stringMatching(/in use by the server with process id/) })
  const directory = await server.keep()
  expect(await run('dump', directory, file)).toMatchObject({
    code: 0,
    said: expect.stringMatching(/data\.xce contains everything in the embedded/),
  })

  // As when a new version brings another PostgreSQL: the database is moved away, tokens and the workers' state stay.
  renameSync(path.join(directory, 'database'), path.join(scratch, 'old'))
  expect(await run('load', directory, file)).toMatchObject({
    code: 0,
    said: expect.stringMatching(/Loaded \d+ rows of 20/),
  })
  expect(await run('load', directory, file)).toMatchObject({ code: 1, said: expect.stringMatching(/not empty/) })

  server = await TestServer.start(undefined, directory)
  const again = new HandWorker(server.client, 'moved')
  expect((await again.register(running)).stop).toEqual([])
  expect(await aliveReplicas(server.client, 'moved')).toEqual(before)
  // The counter was raised: what they had is too old to go on from, and never a moment of the new history.
  const resumed = await firstFrames(server.client, followed, had)
  for (const [field, { kind, revision }] of Object.entries(resumed)) {
    expect([field, kind]).toEqual([field, 'SNAPSHOT'])
    expect(BigInt(revision)).toBeGreaterThan(BigInt(had[field]?.revision ?? 0) + revisionRaise - 1n)
  }
  expect(resumed['endpointChanged']?.['endpoint']).toEqual(had['endpointChanged']?.['endpoint'])
  await server.stop()
  // Making a new embedded database takes its seconds.
}, 120_000)

test('without a file, or with more than one, a tool says how it is used', async () => {
  expect(await run('dump', scratch)).toMatchObject({ code: 2, said: expect.stringMatching(/npm run dump -- FILE/) })
  expect(await run('load', scratch, 'a', 'b')).toMatchObject({
    code: 2,
    said: expect.stringMatching(/npm run load -- FILE/),
  })
  expect(await run('dump', scratch, path.join(scratch, 'none.xce'))).toMatchObject({
    code: 1,
    said: expect.stringMatching(/no embedded database/),
  })
})
