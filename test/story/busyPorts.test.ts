import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { change, createService } from '../support/drivers/apiService.ts'
import { LinkedWorker } from '../support/drivers/linkedWorker.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { freePort } from '../support/fixtures/freePort.ts'
import { listenOn } from '../support/fixtures/listenOn.ts'
import { program } from '../support/fixtures/processes.ts'
import { until } from '../support/fixtures/until.ts'

// Other programs have ports of the host: real listeners, a whole server, and a worker that starts real processes.

let server: TestServer
let worker: LinkedWorker
const directory = mkdtempSync(path.join(tmpdir(), 'xce-ports-'))
const from = 26_000 + Math.floor(Math.random() * 5_000)
beforeAll(async () => {
  server = await TestServer.start()
  worker = new LinkedWorker({
    directory,
    token: server.client.token ?? '',
    settings: { servers: { kind: 'list', urls: [server.url] }, portRange: { from, to: from + 99 }, reservedPorts: [] },
  })
})
afterAll(async () => {
  await worker.end()
  await server.stop()
  rmSync(directory, { recursive: true })
})

interface Seen {
  readonly status: string
  readonly availableReplicas: number
  readonly version: { readonly number: number }
  readonly blockers: readonly { readonly reason: string; readonly message: string; readonly until: string | null }[]
  readonly replicas: {
    readonly nodes: readonly {
      readonly endReason: string | null
      readonly ports: readonly { readonly port: number }[]
    }[]
  }
}

async function seen(name: string): Promise<Seen> {
  const query = `query ($name: String!) { service(name: $name) { status availableReplicas version { number }
    blockers { reason message until } replicas(first: 100) { nodes { endReason ports { port } } } } }`
  return (await server.client.ask<{ service: Seen }>(query, { name })).service
}

const readiness = { tcp: { port: 'http' } }
const command = program('http-server')

test('four other programs on the first ports of the range keep no release from rolling, and none is rolled back', async () => {
  const busy = [0, 1, 2, 3].map((at) => from + at)
  for (const port of busy) await listenOn(port)
  const serviceDefaults = { rollout: { autoRollback: true, maxSurge: 2 } }
  await createService(server.client, 'busy', 2, { command, readiness, serviceDefaults })
  await until(async () => (await seen('busy')).status === 'HEALTHY', 'it is up')
  await change(server.client, 'updateService', 'UpdateServiceInput', {
    service: { name: 'busy' },
    command: [...command, 'two'],
  })
  const after = await until(async () => {
    const now = await seen('busy')
    const ended = now.replicas.nodes.filter(({ endReason }) => endReason !== null)
    return now.status === 'HEALTHY' && now.version.number === 2 && ended.length > 1 ? now : null
  }, 'the update is complete')
  const ends = after.replicas.nodes.flatMap(({ endReason }) => endReason ?? [])
  expect(ends).toEqual(['REPLACED_BY_ROLLOUT', 'REPLACED_BY_ROLLOUT'])
  expect(after.replicas.nodes).toHaveLength(4)
  const ports = after.replicas.nodes.flatMap((replica) => replica.ports.map(({ port }) => port))
  expect(ports.filter((port) => busy.includes(port))).toEqual([])
})

test('a fixed port of another program: NO_PORT says so, and the replica has it as soon as the program leaves it', async () => {
  const port = await freePort()
  const close = await listenOn(port)
  await createService(server.client, 'fixed', 1, { command, readiness, ports: [{ name: 'http', port }] })
  const blocker = await until(
    async () => (await seen('fixed')).blockers.find(({ reason }) => reason === 'NO_PORT'),
    'it waits',
  )
  expect(blocker.message).toContain(`On host host-1 a program that was not started by the worker uses port ${port}`)
  const quarantinedUntil = Date.parse(blocker.until ?? '')
  await close()
  await until(async () => (await seen('fixed')).availableReplicas === 1, 'it has its port', 50)
  expect(server.app.clock.now()).toBeLessThan(quarantinedUntil)
})
