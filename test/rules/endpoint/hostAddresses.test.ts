import { describe, expect, test } from 'vitest'
import type { HostView } from '../../../src/model/service.ts'
import type { ServiceChange } from '../../../src/rules/draft/change.ts'
import { dataOf, messagesOf, readyScene, Scene } from '../../support/drivers/scene.ts'
import { hostId, reporter, reportOf, workerOf } from '../../support/fixtures/services.ts'

const told = ['10.0.0.1']
const moved: HostView = { id: hostId(1), name: 'node1', addresses: ['10.9.9.9', 'fd00::9'] }
const unlisted: HostView = { ...moved, addresses: [] }
const readdress = (host = moved, worker = workerOf(hostId(1))) => ({ kind: 'hostAddresses', worker, host }) as const

/** A server that has not had the service in its cache loads it: the registration has changed the host already. */
function load(scene: Scene, host = moved): Scene {
  scene.store.snapshot = { ...scene.store.loaded(), hosts: new Map([[host.id, host]]) }
  return scene
}

const listed = (scene: Scene) => [...scene.store.table.values()].map(({ addresses }) => addresses)
const recorded = (scene: Scene) => scene.store.alive.map(({ hostAddresses }) => hostAddresses)
const rowsOf = ({ insertedReplicas, updatedReplicas }: ServiceChange) =>
  insertedReplicas.length + updatedReplicas.length

describe.each([
  ['the cache has the service as it was', (scene: Scene) => scene],
  ['it was loaded after the registration', (scene: Scene) => load(scene)],
] as const)('the host has other addresses, and %s', (_what, known) => {
  test('told by itself: the table moves, and what was started for the old address is to be started again', () => {
    const scene = known(readyScene({ replicas: 2 }))
    const change = scene.commit(readdress())
    expect(dataOf(change).upserted.map(({ address, ready }) => [address, ready])).toEqual([
      ['10.9.9.9', true],
      ['10.9.9.9', true],
    ])
    expect(dataOf(change).replaced.map(({ addresses }) => addresses)).toEqual([told, told])
    expect(dataOf(change).removed).toEqual([])
    expect(messagesOf(change)[0]).toBe(
      'Replicas 0 and 1 of web are to be started again: host node1 has moved to 10.9.9.9.',
    )
    expect(listed(scene)).toEqual([moved.addresses, moved.addresses])
    expect(recorded(scene).slice(0, 2)).toEqual([moved.addresses, moved.addresses])
    expect(change.workerPreconditions).toEqual([
      { workerId: workerOf(hostId(1)), reachability: null, draining: null, addresses: moved.addresses },
    ])
  })

  test('told with an adoption, also of what runs by another worker of the host', () => {
    const scene = known(readyScene({ replicas: 2 }))
    const change = scene.commit({
      kind: 'adopt',
      reporter: reporter({ workerId: workerOf(hostId(2)), epoch: 2 }),
      host: moved,
      running: [],
    })
    expect(dataOf(change).upserted).toHaveLength(2)
    expect(listed(scene)).toEqual([moved.addresses, moved.addresses])
  })

  test('one of what is stopping, and one that is not confirmed: the first moves, the other one begins there', () => {
    const scene = new Scene({ replicas: 2 })
    scene.place()
    const [first, second] = [scene.row(0), scene.row(1)]
    scene.report([reportOf(first)])
    scene.scale(1)
    known(scene)
    const { upserted } = dataOf(scene.commit(readdress()))
    expect(upserted.map(({ replicaId, address }) => [replicaId, address])).toEqual([[first.id, '10.9.9.9']])
    scene.report([reportOf(second)])
    expect(listed(scene)).toEqual([moved.addresses, moved.addresses])
  })

  test('without an address its replicas leave the table, and a blocker says so; with one they return', () => {
    const scene = known(readyScene({ replicas: 1 }))
    expect(dataOf(scene.commit(readdress(unlisted))).removed).toHaveLength(1)
    expect(scene.snapshot.columns.blockers).toMatchObject([{ reason: 'NO_ADDRESS' }])
    load(scene)
    expect(scene.tick().facts).toEqual([])
    expect(dataOf(scene.commit(readdress())).upserted).toHaveLength(1)
    expect(scene.snapshot.columns.blockers).toEqual([])
  })

  test('another change of the service leaves them where clients were told that they are', () => {
    const scene = known(readyScene({ replicas: 2 }))
    scene.report([reportOf(scene.row(0), { ready: false })])
    expect(listed(scene)).toEqual([told, told])
  })
})

describe('what was started for another address is started again', () => {
  const leaving = (scene: Scene) => scene.store.alive.map((row) => row.leaving)

  test('within the limits of the service, with the blocker NO_ADDRESS meanwhile, until all are at the new address', () => {
    const scene = readyScene({ replicas: 4 })
    scene.commit(readdress())
    for (let round = 0; leaving(scene).includes('MOVED'); round++) {
      const { availableReplicas, activeReplicas, blockers } = scene.snapshot.columns
      expect(availableReplicas).toBeGreaterThanOrEqual(3)
      expect(activeReplicas).toBeLessThanOrEqual(5)
      const waits = blockers.find(({ reason }) => reason === 'NO_ADDRESS')
      if (scene.store.alive.some((row) => row.leaving === 'MOVED' && row.state === 'RUNNING'))
        expect(waits?.message).toMatch(
          /^Waiting for web\[\d\].* to be started again, because host node1 has moved to 10\.9\.9\.9: /,
        )
      expect(round).toBeLessThan(10)
      scene.confirmStops()
      scene.place({ hostAddresses: moved.addresses })
      scene.ready()
    }
    scene.confirmStops()
    expect(scene.snapshot.columns).toMatchObject({ status: 'HEALTHY', availableReplicas: 4, blockers: [] })
    const ends = [...scene.store.rows.values()].flatMap(({ endReason }) => endReason ?? [])
    expect(ends).toEqual(['MOVED', 'MOVED', 'MOVED', 'MOVED'])
  })

  test('also where the old address answers no more: those that are not ready go first', () => {
    const scene = readyScene({ replicas: 2 })
    scene.report([0, 1].map((index) => reportOf(scene.row(index), { ready: false })))
    scene.commit(readdress())
    expect(scene.snapshot.columns.blockers.map(({ reason }) => reason)).toEqual(['QUEUED', 'NO_ADDRESS'])
    scene.place({ hostAddresses: moved.addresses })
    scene.report([reportOf(scene.row(2))])
    expect(scene.store.alive.some(({ state }) => state === 'STOPPING')).toBe(true)
  })

  test('a restart in place takes the new address, so the replica stays', () => {
    const scene = readyScene({ replicas: 1 })
    scene.commit(readdress())
    expect(leaving(scene)).toEqual(['MOVED', null])
    scene.report([reportOf(scene.row(0), { start: 2 })])
    expect(leaving(scene)).toEqual([null])
    expect(scene.snapshot.columns).toMatchObject({ status: 'HEALTHY', blockers: [] })
  })

  test.each([
    [
      'only the further addresses are others',
      readyScene({ replicas: 1 }),
      { ...moved, addresses: ['10.0.0.1', 'fd00::9'] },
    ],
    ['it has no address any more', readyScene({ replicas: 1 }), unlisted],
    [
      'it had none',
      (() => {
        const scene = new Scene({ replicas: 1 })
        scene.place({ hostAddresses: [] })
        scene.ready()
        return scene
      })(),
      moved,
    ],
    [
      'the process was not started yet',
      (() => {
        const scene = new Scene({ replicas: 1 })
        scene.place()
        return scene
      })(),
      moved,
    ],
  ])('not where %s', (_what, scene, host) => {
    scene.commit(readdress(host))
    expect(leaving(scene)).toEqual([null])
  })
})

test('told twice it changes nothing', () => {
  const scene = readyScene({ replicas: 2 })
  scene.commit(readdress())
  expect(scene.commit(readdress()).facts).toEqual([])
  expect(load(scene).commit(readdress()).facts).toEqual([])
})

test('back to the addresses that were told, before anybody heard of others, changes nothing', () => {
  const scene = load(readyScene({ replicas: 2 }))
  scene.commit(readdress({ ...moved, addresses: told }))
  expect(listed(scene)).toEqual([told, told])
})

test('what other workers run, and on other hosts, is not touched', () => {
  const scene = new Scene({ replicas: 1 })
  scene.place({ hostId: hostId(2), hostName: 'node2' })
  scene.report([reportOf(scene.row(0))], { hostId: hostId(2) })
  expect(scene.commit(readdress()).facts).toEqual([])
  expect(scene.ask(readdress({ ...moved, id: hostId(2) }, workerOf(hostId(3))))).toEqual({
    kind: 'done',
    changed: false,
  })
  expect(listed(scene)).toEqual([told])
})

test('what is placed anew has the addresses of the host that it comes to', () => {
  const scene = readyScene({ replicas: 1 })
  expect(recorded(scene)).toEqual([told])
  scene.end(0, { endReason: 'PORT_TAKEN' })
  expect(recorded(scene)).toEqual([[]])
  scene.place({ hostId: hostId(2), hostName: 'node2', hostAddresses: ['10.0.0.2'] })
  scene.report([reportOf(scene.row(0))], { hostId: hostId(2) })
  expect([recorded(scene), listed(scene)]).toEqual([[['10.0.0.2']], [['10.0.0.2']]])
})

test('1,200 replicas move in commits of 500 rows, each of which tells what it moved', () => {
  const scene = new Scene({ replicas: 1_200 })
  for (let round = 0; round < 3; round++) {
    scene.tick()
    scene.place()
  }
  scene.ready()
  const changes = load(scene).whole(readdress())
  expect(changes.map(rowsOf)).toEqual([500, 500, 300])
  // The last commit has room to stop the first ones, too, as far as maxUnavailable lets it.
  expect(changes.map((change) => dataOf(change).upserted.length)).toEqual([500, 500, 300])
  expect(new Set(listed(scene).map(String))).toEqual(new Set([String(moved.addresses)]))
})
