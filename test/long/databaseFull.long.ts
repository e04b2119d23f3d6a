import { cpSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import type { ApiClient } from '../support/drivers/apiClient.ts'
import { createService, scale } from '../support/drivers/apiService.ts'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import { TroubleScene } from '../support/drivers/troubleScene.ts'
import { onServer } from '../support/fixtures/databases.ts'
import { databaseUrl } from '../support/fixtures/globalSetup.ts'
import { startOwnPostgreSQL } from '../support/fixtures/postgresqlServer.ts'
import { SmallDisk } from '../support/fixtures/smallDisk.ts'
import { until } from '../support/fixtures/until.ts'

// A disk that is really full, under either database: a tmpfs of its own. Without the right to mount one there is no honest way.

const full =
  "The database's disk is full: nothing was changed, reads and running replicas go on; try again when an operator has mended it."

const cleanUp: (() => unknown)[] = []
let disk: SmallDisk
beforeEach(({ skip }) => {
  const mounted = SmallDisk.mount(200)
  if (mounted === null) return skip('only root may mount a small disk')
  disk = mounted
  cleanUp.push(() => disk.unmount())
})
afterEach(async () => {
  for (const clean of cleanUp.splice(0).reverse()) await clean()
})

/** Free pages take some changes still: writes until one is refused for want of room, and returns its sentence. */
function refusal(client: ApiClient): Promise<string> {
  let count = 0
  const document = 'mutation ($input: ApplyProfileInput!) { applyProfile(input: $input) { __typename } }'
  return until(async () => {
    const command = ['run', `${++count} ${'x'.repeat(4_000)}`]
    const { errors } = await client.send(document, { input: { name: `large-${count}`, command } })
    const [error] = errors
    if (error === undefined) return null
    expect(error.extensions?.code).toBe('DATABASE_FULL')
    return error.message
  }, 'a change is refused')
}

test('PostgreSQL: changes are refused with a sentence, reads and subscribers go on, and with room there all goes on', async () => {
  const own = await startOwnPostgreSQL()
  cleanUp.push(() => own.stop())
  const space = path.join(disk.directory, 'space')
  await own.directory(space)
  await onServer(`CREATE TABLESPACE small LOCATION '${space}'`, own.url)
  await onServer('CREATE DATABASE xce TABLESPACE small', own.url)
  const scene = await TroubleScene.start(databaseUrl(own.url, 'xce'))
  cleanUp.push(() => scene.stop())
  const { server } = scene
  disk.fill()
  expect(await refusal(server.client)).toBe(full)
  expect(await scene.ready()).toEqual([503, "The database's disk is full: reads work, changes are refused."])
  expect(await server.client.ask('{ service(name: "web") { readyReplicas } }')).toEqual({
    service: { readyReplicas: 1 },
  })
  const seen = scene.frames('service').length
  await until(() => scene.frames('service').length > seen, 'a BOOKMARK comes')

  disk.free()
  await scale(server.client, 'web', 3)
  expect(await scene.ready()).toEqual([200, 'The server is ready.'])
  await scene.heardAll()
  await scene.expectWhole()
})

test('embedded: changes are refused with a sentence, reads go on, with room there all goes on, and the data are whole', async () => {
  const directory = path.join(disk.directory, 'data')
  cpSync(inject('embeddedTemplate'), directory, { recursive: true })
  const running = new ServerProcess({}, directory)
  cleanUp.push(() => running.clean())
  await running.start()
  const client = running.client()
  await createService(client, 'web', 1)
  // Before there is really no room: PGlite does not survive that its write-ahead log finds none.
  disk.fill(40)
  expect(await refusal(client)).toBe(full)
  disk.fill()
  expect(await refusal(client)).toBe(full)
  const ready = async () => (await fetch(new URL('/readyz', running.url))).status
  expect(await ready()).toBe(503)
  expect(await client.ask('{ service(name: "web") { desiredReplicas } }')).toEqual({ service: { desiredReplicas: 1 } })

  disk.free()
  await scale(client, 'web', 3)
  expect(await ready()).toBe(200)
  await running.end('SIGKILL')
  await running.start()
  expect(await running.client().ask('{ service(name: "web") { desiredReplicas } }')).toEqual({
    service: { desiredReplicas: 3 },
  })
})
