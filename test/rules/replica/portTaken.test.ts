import { expect, test } from 'vitest'
import { messagesOf, Scene } from '../../support/drivers/scene.ts'
import { grantOf, hostId, reportOf } from '../../support/fixtures/services.ts'

test('R13: a port that is taken is quarantined and the same row is placed anew, with its quota and no failure', () => {
  const scene = new Scene({ replicas: 1 })
  scene.place()
  const { id } = scene.row(0)
  const change = scene.end(0, { endReason: 'PORT_TAKEN' })
  expect(change.hosts).toMatchObject([
    { portsReleased: [], portsQuarantined: [{ name: 'http', port: 20_000, replicaId: id }], cpuMillis: -100 },
  ])
  expect(scene.row(0)).toMatchObject({
    id,
    state: 'PENDING',
    hostId: null,
    ports: [],
    portConflicts: 1,
    holdsQuota: true,
    start: 1,
    avoidHostId: hostId(1),
    notBefore: null,
  })
  expect(change.quota.delta).toBe(0)
  expect(scene.snapshot.slots).toEqual([])
  expect(messagesOf(change)).toEqual([
    'Replica 0 of web could not bind its ports (http 20000): they are in quarantine there and it is placed again.',
  ])
  expect(change.facts.at(-1)).toMatchObject({ data: { wakesPlacement: true, hosts: [hostId(1)] } })
})

test('the third in a row is a START_FAILED', () => {
  const scene = new Scene({ replicas: 1 })
  scene.place()
  const { id } = scene.row(0)
  for (let conflict = 1; conflict < 3; conflict++) {
    scene.end(0, { endReason: 'PORT_TAKEN' })
    scene.place()
  }
  const change = scene.end(0, { endReason: 'PORT_TAKEN' })
  expect(scene.store.rows.get(id)).toMatchObject({ state: 'ENDED', endReason: 'START_FAILED', portConflicts: 3 })
  expect(change.hosts[0]?.portsQuarantined).toHaveLength(1)
  expect(scene.snapshot.slots).toMatchObject([{ failures: 1 }])
  expect(scene.row(0)).toMatchObject({ portConflicts: 0, state: 'PENDING' })
})

test('readiness in between begins the row of conflicts anew', () => {
  const scene = new Scene({ replicas: 1 })
  scene.place()
  scene.end(0, { endReason: 'PORT_TAKEN' })
  scene.place()
  scene.ready()
  expect(scene.row(0).portConflicts).toBe(0)
})

test('on the same host an old report stays old; on another one its worker counts anew', () => {
  const scene = new Scene({ replicas: 1 })
  scene.place()
  scene.end(0, { endReason: 'PORT_TAKEN' })
  scene.commit({ kind: 'grant', grants: [grantOf(scene.row(0).id)] })
  const retried = [reportOf(scene.row(0), { state: 'ENDED', ready: false, endReason: 'PORT_TAKEN' })]
  scene.sequence = 0
  expect(scene.report(retried).facts).toEqual([])
  scene.report(retried)
  scene.commit({ kind: 'grant', grants: [grantOf(scene.row(0).id, { hostId: hostId(2), hostName: 'node2' })] })
  expect(scene.row(0)).toMatchObject({ reportedEpoch: 0, reportedSequence: 0 })
})

test('told again after the row was placed anew on the same host, it is passed over: its ports tell which placement it is about', () => {
  const scene = new Scene({ replicas: 1 })
  scene.place()
  const { id, ports } = scene.row(0)
  const taken = { state: 'ENDED', ready: false, endReason: 'PORT_TAKEN', ports: ports.map(({ port }) => port) } as const
  scene.report([reportOf(scene.row(0), taken)])
  scene.place()
  const placed = scene.row(0)
  expect(placed).toMatchObject({ id, hostId: hostId(1), portConflicts: 1 })
  const change = scene.report([reportOf(placed, taken)])
  expect(change.facts).toEqual([])
  expect(scene.row(0)).toEqual(placed)
  // That of the new placement counts, in whatever order its ports are said.
  scene.report([reportOf(placed, { ...taken, ports: placed.ports.map(({ port }) => port).reverse() })])
  expect(scene.row(0)).toMatchObject({ state: 'PENDING', portConflicts: 2 })
})
