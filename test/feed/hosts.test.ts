import { afterAll, beforeAll, expect, test } from 'vitest'
import { change } from '../support/drivers/apiService.ts'
import { HandWorker } from '../support/drivers/handWorker.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { type Frame, Subscriber } from './subscriber.ts'

interface Shown {
  readonly id: string
  readonly name: string
  readonly scheduling: string
  readonly reachability: string
}

let server: TestServer
let subscriber: Subscriber
/** The host as the last frame shows it. */
let last: Shown | undefined
/** Ends the renewals that keep the host. */
let silence = (): void => undefined
beforeAll(async () => {
  // Whoever renews no lease is soon UNREACHABLE, and LOST by an operator's word only.
  server = await TestServer.start(undefined, undefined, { env: { XCE_LEASE_SECONDS: '1', XCE_GRACE_SECONDS: '3600' } })
  subscriber = await Subscriber.open(server.client)
})
afterAll(async () => {
  silence()
  await subscriber.close()
  await server.stop()
})

/** The next frame; all that come are DELTAs of one host. */
async function delta(): Promise<Frame & { hosts: Shown[]; removedIds: string[] }> {
  const frame = (await subscriber.frame()) as Frame & { hosts: Shown[]; removedIds: string[] }
  expect(frame).toMatchObject({ kind: 'DELTA', last: true })
  expect(frame.hosts.length + frame.removedIds.length).toBe(1)
  last = frame.hosts[0]
  return frame
}

/** Frames until one shows the host so. The last one may: on a machine that stands still for longer than a lease its silence comes early. */
async function shown(fits: Partial<Shown>): Promise<Shown> {
  for (;;) {
    const host = last
    if (host !== undefined && Object.entries(fits).every(([key, value]) => host[key as keyof Shown] === value))
      return host
    await delta()
  }
}

/** Frames until one tells what was removed. */
async function removal(): Promise<string[]> {
  for (;;) {
    const { removedIds } = await delta()
    if (removedIds.length > 0) return removedIds
  }
}

test('hostsChanged tells what operators want of a host, its silence, its return, its loss and its removal', async () => {
  subscriber.subscribe(
    'subscription { hostsChanged { kind revision last hosts { id name scheduling reachability } removedIds } }',
  )
  expect(await subscriber.frame()).toMatchObject({ kind: 'SNAPSHOT', last: true, hosts: [], removedIds: [] })
  const worker = new HandWorker(server.client, 'n1')
  // A renewal alone brings nobody back, but keeps who is there for as long as the test looks.
  silence = worker.keepAlive(100)
  await worker.register()
  const { id } = await shown({ name: 'n1', reachability: 'REACHABLE', scheduling: 'OPEN' })

  await change(server.client, 'cordonHost', 'CordonHostInput', { host: { name: 'n1' } })
  await shown({ id, scheduling: 'CORDONED' })
  await change(server.client, 'drainHost', 'DrainHostInput', { host: { name: 'n1' } })
  await shown({ id, scheduling: 'DRAINED' })
  await change(server.client, 'uncordonHost', 'UncordonHostInput', { host: { name: 'n1' } })
  await shown({ id, scheduling: 'OPEN' })

  silence()
  await shown({ id, reachability: 'UNREACHABLE' })
  silence = worker.keepAlive(100)
  await worker.reportAll()
  await shown({ id, reachability: 'REACHABLE' })

  silence()
  await shown({ id, reachability: 'UNREACHABLE' })
  await change(server.client, 'confirmHostLoss', 'ConfirmHostLossInput', { host: { name: 'n1' } })
  await shown({ id, reachability: 'LOST' })
  silence = worker.keepAlive(100)
  await worker.register()
  await shown({ id, reachability: 'REACHABLE' })

  silence()
  await shown({ id, reachability: 'UNREACHABLE' })
  await change(server.client, 'removeHost', 'RemoveHostInput', { host: { name: 'n1' } })
  expect(await removal()).toEqual([id])
  // Back, it is a host as any other.
  silence = worker.keepAlive(100)
  await worker.register()
  await shown({ id, name: 'n1', reachability: 'REACHABLE' })
})
