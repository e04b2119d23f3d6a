import { afterAll, beforeAll, expect, test } from 'vitest'
import { createService, placedReplicas } from '../../support/drivers/apiService.ts'
import type { HandWorker } from '../../support/drivers/handWorker.ts'
import { EventStream } from '../../support/drivers/sse.ts'
import { TestServer } from '../../support/drivers/testServer.ts'

let server: TestServer
let worker: HandWorker
beforeAll(async () => {
  ;({ server, worker } = await TestServer.withWorker())
})
afterAll(() => server.stop())

interface Frame {
  readonly kind: string
  readonly endpoint: { readonly addresses: readonly object[]; readonly all: readonly object[] }
  readonly added: readonly object[]
}

async function follow(args: string): Promise<() => Promise<Frame>> {
  const stream = await EventStream.open(
    server.client,
    `subscription { endpointChanged(${args}) {
      kind endpoint { addresses { portName ready } all: addresses(port: "peer", includeNotReady: true) { portName ready } }
      added { portName ready }
    } }`,
  )
  return async () => {
    const event = await stream.next()
    if (event === null) throw new Error('The stream ended.')
    return (event.data as { data: { endpointChanged: Frame } }).data.endpointChanged
  }
}

test('the table of a frame has the addresses that the subscription asks for, as `added` has', async () => {
  await createService(server.client, 'etcd', 1, {
    ports: [{ name: 'client' }, { name: 'peer' }],
    readiness: { tcp: { port: 'client' } },
  })
  const [replica] = await placedReplicas(server.client, 'etcd', 1)
  const report = (ready: boolean) => worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready })
  await report(false)
  const [client, both, notReady] = await Promise.all(
    [
      'service: { name: "etcd" }, port: "client"',
      'service: { name: "etcd" }',
      'service: { name: "etcd" }, port: "client", includeNotReady: true',
    ].map(follow),
  )
  const one = (ready: boolean) => ({ portName: 'client', ready })
  const other = (ready: boolean) => ({ portName: 'peer', ready })
  const frame = (kind: string, shown: readonly object[], peer: object) => ({
    kind,
    endpoint: { addresses: shown, all: [peer] },
    added: shown,
  })
  expect(await client?.()).toEqual(frame('SNAPSHOT', [], other(false)))
  expect(await both?.()).toEqual(frame('SNAPSHOT', [], other(false)))
  expect(await notReady?.()).toEqual(frame('SNAPSHOT', [one(false)], other(false)))
  await report(true)
  expect(await client?.()).toEqual(frame('DELTA', [one(true)], other(true)))
  expect(await both?.()).toEqual(frame('DELTA', [one(true), other(true)], other(true)))
  expect(await notReady?.()).toEqual(frame('DELTA', [one(true)], other(true)))
})

test('elsewhere the addresses are ready ones of all ports', async () => {
  const { endpoint } = await server.client.ask<{ endpoint: object }>(
    '{ endpoint(service: { name: "etcd" }) { addresses { portName } } }',
  )
  expect(endpoint).toEqual({ addresses: [{ portName: 'client' }, { portName: 'peer' }] })
})
