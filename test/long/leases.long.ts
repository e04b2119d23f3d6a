import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  aliveReplicas,
  change,
  createService,
  placedReplicas,
  type ReplicaSeen,
} from '../support/drivers/apiService.ts'
import { HandWorker, type Seen } from '../support/drivers/handWorker.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'

vi.setConfig({ testTimeout: 90_000 })

let server: TestServer
const [leaseSeconds, graceSeconds] = [2, 2]
const stops: (() => void)[] = []
beforeEach(async () => {
  server = await TestServer.start(undefined, undefined, {
    env: { XCE_LEASE_SECONDS: String(leaseSeconds), XCE_GRACE_SECONDS: String(graceSeconds) },
  })
})
afterEach(async () => {
  for (const stop of stops.splice(0)) stop()
  await server.stop()
})

async function worker(name: string): Promise<HandWorker> {
  const made = new HandWorker(server.client, name)
  await made.register()
  return made
}

function keepAlive(of: HandWorker): () => void {
  const stop = of.keepAlive()
  stops.push(stop)
  return stop
}

const running = ({ id }: ReplicaSeen): Seen => ({ replica: id, state: 'RUNNING', ready: true })
const stopped = ({ id }: ReplicaSeen): Seen => ({ replica: id, state: 'ENDED', endReason: 'STOPPED' })
const host = async (name: string) => {
  const query =
    'query ($name: String!) { host(name: $name) { reachability scheduling reason workers { reachability } usedPorts } }'
  type Host = {
    reachability: string
    scheduling: string
    reason: string | null
    workers: { reachability: string }[]
    usedPorts: number
  }
  return (await server.client.ask<{ host: Host | null }>(query, { name })).host
}
const becomes = (name: string, reachability: string) =>
  until(async () => (await host(name))?.reachability === reachability, `${name} is ${reachability}`, 40)
const table = async (service: string) => {
  const query = 'query ($service: String!) { endpoint(service: { name: $service }) { addresses { replicaId } } }'
  const { endpoint } = await server.client.ask<{ endpoint: { addresses: { replicaId: string }[] } }>(query, { service })
  return endpoint.addresses.map(({ replicaId }) => replicaId)
}
const events = async () => {
  const { events } = await server.client.ask<{ events: { nodes: { message: string }[] } }>(
    '{ events(first: 100) { nodes { message } } }',
  )
  return events.nodes.map(({ message }) => message)
}

describe('a host that is silent', () => {
  test('leaves the tables with its lease, nothing is replaced, and is back with a full report within its grace', async () => {
    const silent = await worker('a')
    const alive = keepAlive(silent)
    await createService(server.client, 'web', 2)
    const replicas = await placedReplicas(server.client, 'web', 2)
    await silent.report(...replicas.map(running))
    expect(await table('web')).toHaveLength(2)
    alive()
    await becomes('a', 'UNREACHABLE')
    await until(async () => (await table('web')).length === 0, 'its addresses have left')
    expect((await host('a'))?.workers).toEqual([{ reachability: 'UNREACHABLE' }])
    const { service } = await server.client.ask<{ service: { blockers: { reason: string }[] } }>(
      '{ service(name: "web") { blockers { reason } } }',
    )
    expect(service.blockers).toMatchObject([{ reason: 'HOST_UNREACHABLE' }])

    // The renewal alone brings nothing back: the worker has to say what it runs.
    expect(await silent.renew()).toMatchObject({ resync: true })
    keepAlive(silent)
    expect(await table('web')).toEqual([])
    expect(await silent.reportAll(...replicas.map(running))).toMatchObject({ fenced: [] })
    expect(await table('web')).toHaveLength(2)
    expect(await host('a')).toMatchObject({ reachability: 'REACHABLE', reason: null })
    expect(await silent.renew()).toMatchObject({ resync: false })
    expect(await aliveReplicas(server.client, 'web')).toMatchObject(
      replicas.map(({ id }) => ({ id, start: 1, ready: true })),
    )
  })

  test('is lost after its grace: fenced, its replicas replaced elsewhere with their indexes, and it takes nothing before it is clean', async () => {
    const lost = await worker('a')
    const alive = keepAlive(lost)
    await createService(server.client, 'web', 2)
    const before = await placedReplicas(server.client, 'web', 2)
    await lost.report(...before.map(running))
    const other = await worker('b')
    keepAlive(other)
    alive()
    await becomes('a', 'LOST')
    const after = await until(async () => {
      const now = await aliveReplicas(server.client, 'web')
      return now.length === 2 && now.every((replica) => replica.host?.name === 'b') ? now : null
    }, 'they are replaced on the other host')
    expect(after.map(({ index }) => index)).toEqual([0, 1])
    await other.report(...after.map(running))
    expect(await table('web')).toEqual(after.map(({ id }) => id))
    expect(await lost.renew()).toMatchObject({ code: 'FENCED' })
    expect(await lost.reportAll(...before.map(running))).toMatchObject({ code: 'FENCED' })

    // Back, with what was replaced still running.
    const answer = await lost.register(before.map(running))
    expect(answer.stop.toSorted()).toEqual(before.map(({ id }) => id).toSorted())
    expect((await host('a'))?.reachability).toBe('LOST')
    keepAlive(lost)
    expect(await lost.renew()).toMatchObject({ resync: true })
    expect(await lost.reportAll(...before.slice(0, 1).map(running))).toMatchObject({ fenced: [before[0]?.id] })
    expect((await host('a'))?.reachability).toBe('LOST')
    await change(server.client, 'cordonHost', 'CordonHostInput', { host: { name: 'b' } })
    await createService(server.client, 'later', 1)
    const waits = async () => (await aliveReplicas(server.client, 'later'))[0]?.state === 'PENDING'
    expect(await waits()).toBe(true)
    expect(await lost.reportAll()).toMatchObject({ fenced: [] })
    expect((await host('a'))?.reachability).toBe('REACHABLE')
    expect((await placedReplicas(server.client, 'later', 1))[0]?.host?.name).toBe('a')
    expect(await table('web')).toEqual(after.map(({ id }) => id))
    expect(await events()).toEqual(
      expect.arrayContaining([
        expect.stringContaining('Host a is lost'),
        expect.stringContaining("Host a can't be reached"),
      ]),
    )
  })

  test('whose worker starts anew within the grace is back with its registration', async () => {
    const restarted = await worker('a')
    const alive = keepAlive(restarted)
    await createService(server.client, 'web', 1)
    const [replica] = await placedReplicas(server.client, 'web', 1)
    if (replica === undefined) throw new Error('One was placed.')
    await restarted.report(running(replica))
    alive()
    await becomes('a', 'UNREACHABLE')
    await until(async () => (await table('web')).length === 0, 'its address has left')
    expect((await restarted.register([running(replica)])).stop).toEqual([])
    expect(await table('web')).toEqual([replica.id])
  })

  test('with most others is held: none of them is lost until an operator says so', async () => {
    const silent = [await worker('a'), await worker('b')]
    const well = await worker('c')
    keepAlive(well)
    await Promise.all(silent.map((one) => one.renew()))
    await until(async () => (await host('a'))?.reason?.includes('confirmHostLoss'), 'the brake is on', 40)
    expect((await host('a'))?.reachability).toBe('UNREACHABLE')
    await expect(
      change(server.client, 'confirmHostLoss', 'ConfirmHostLossInput', { host: { name: 'c' } }),
    ).rejects.toThrow('INVALID_STATE')
    await change(server.client, 'confirmHostLoss', 'ConfirmHostLossInput', { host: { name: 'a' } })
    expect(await host('a')).toMatchObject({ reachability: 'LOST', reason: 'admin confirmed that it is lost.' })
    await expect(
      change(server.client, 'confirmHostLoss', 'ConfirmHostLossInput', { host: { name: 'a' } }),
    ).rejects.toThrow('INVALID_STATE')
    expect(await silent[0]?.renew()).toMatchObject({ code: 'FENCED' })

    // That was said of a: b is held still, however long the others are heard.
    const { prisma } = server.app.database
    const heardOf = async (name: string) =>
      (await prisma.worker.findUniqueOrThrow({ where: { name } })).lastSeenAt.getTime()
    const confirmedAt = await heardOf('c')
    await until(
      async () => (await heardOf('c')) - confirmedAt > (leaseSeconds + graceSeconds) * 1_000,
      'a lease and a grace have passed',
    )
    expect(await host('b')).toMatchObject({
      reachability: 'UNREACHABLE',
      reason: expect.stringContaining('confirmHostLoss'),
    })
    // One returns: b has a lease and a grace more to return too.
    keepAlive(await worker('a'))
    await becomes('b', 'LOST')
    expect((await host('a'))?.reachability).toBe('REACHABLE')
  })
})

describe('the brake (R15)', () => {
  test('counts one whose loss was confirmed before the others were held: they are held all the same', async () => {
    const silent = [await worker('a'), await worker('b'), await worker('c')]
    await Promise.all(silent.map((one) => one.renew()))
    await becomes('a', 'UNREACHABLE')
    await change(server.client, 'confirmHostLoss', 'ConfirmHostLossInput', { host: { name: 'a' } })
    for (const name of ['b', 'c']) {
      await until(async () => (await host(name))?.reason?.includes('confirmHostLoss'), `${name} is held`, 40)
      expect((await host(name))?.reachability).toBe('UNREACHABLE')
    }
  })

  test('does not count hosts that were drained and ended: one that dies after them is lost', async () => {
    for (const name of ['a', 'b']) {
      await worker(name)
      await change(server.client, 'drainHost', 'DrainHostInput', { host: { name: name } })
    }
    await worker('c')
    for (const name of ['d', 'e']) keepAlive(await worker(name))
    await becomes('c', 'LOST')
    expect((await host('d'))?.reachability).toBe('REACHABLE')
  })
})

describe('operators', () => {
  test('drain a host: replacements first, then its replicas leave; uncordon lets what is left stay; at the end it can be removed', async () => {
    const drained = await worker('a')
    const alive = keepAlive(drained)
    await createService(server.client, 'web', 2)
    const before = await placedReplicas(server.client, 'web', 2)
    await drained.report(...before.map(running))
    const drain = () => change(server.client, 'drainHost', 'DrainHostInput', { host: { name: 'a' } })
    await drain()
    expect((await aliveReplicas(server.client, 'web')).map(({ state, ready }) => [state, ready]).slice(0, 2)).toEqual([
      ['RUNNING', true],
      ['RUNNING', true],
    ])
    await until(async () => {
      const { service } = await server.client.ask<{ service: { blockers: { message: string }[] } }>(
        '{ service(name: "web") { blockers { message } } }',
      )
      return service.blockers.some(({ message }) => message.includes('No host takes replicas'))
    }, 'the hold says why')
    await expect(drain()).rejects.toThrow('NO_CHANGE')
    await change(server.client, 'uncordonHost', 'UncordonHostInput', { host: { name: 'a' } })
    // It may have been placed in the moment that the host was open again.
    await until(async () => {
      const now = await aliveReplicas(server.client, 'web')
      await drained.report(...now.filter(({ state }) => state === 'STOPPING').map(stopped))
      return now.length === 2
    }, 'the replacement goes')
    expect((await aliveReplicas(server.client, 'web')).map(({ id }) => id)).toEqual(before.map(({ id }) => id))
    await drain()
    const other = await worker('b')
    keepAlive(other)
    await until(
      async () => {
        const now = await aliveReplicas(server.client, 'web')
        const [here, there] = ['a', 'b'].map((name) => now.filter((replica) => replica.host?.name === name))
        expect(now.filter(({ ready, state }) => ready && state === 'RUNNING').length).toBeGreaterThanOrEqual(1)
        await other.report(...(there ?? []).map(running))
        await drained.report(...(here ?? []).filter(({ state }) => state === 'STOPPING').map(stopped))
        return now.length === 2 && now.every((replica) => replica.host?.name === 'b' && replica.ready)
      },
      'all have moved',
      40,
    )
    const removal = () => change(server.client, 'removeHost', 'RemoveHostInput', { host: { name: 'a' } })
    await expect(removal()).rejects.toThrow('INVALID_STATE')
    alive()
    await becomes('a', 'UNREACHABLE')
    await removal()
    expect(await host('a')).toBeNull()
    expect(await drained.renew()).toMatchObject({ code: 'FENCED' })
    await drained.register()
    expect(await host('a')).toMatchObject({ reachability: 'REACHABLE', scheduling: 'OPEN', reason: null })
  })
})
