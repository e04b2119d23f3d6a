import { describe, expect, test } from 'vitest'
import { messagesOf, readyScene, Scene } from '../../support/drivers/scene.ts'
import { updateTo } from '../../support/fixtures/rollouts.ts'
import { grantOf, hostId, reportOf, settings } from '../../support/fixtures/services.ts'

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
    'Replica 0 of web could not have its port http 20000 on host node1. The port is in quarantine there, and the replica is placed again.',
  ])
  expect(change.facts.at(-1)).toMatchObject({ data: { wakesPlacement: true, hosts: [hostId(1)] } })
})

test('only the port that is taken goes into quarantine; the others of the replica are free again', () => {
  const scene = new Scene({ replicas: 1 })
  const ports = ['http', 'admin', 'dns'].map((name, at) => ({ name, port: 20_000 + at, protocol: 'TCP' as const }))
  scene.place({ ports })
  const message = 'The port "admin" (TCP 20001) is used by another process on this host.'
  const change = scene.end(0, { endReason: 'PORT_TAKEN', takenPorts: ['admin'], message })
  const portsOf = (held: readonly { readonly name: string }[] = []) => held.map(({ name }) => name)
  expect(portsOf(change.hosts[0]?.portsQuarantined)).toEqual(['admin'])
  expect(portsOf(change.hosts[0]?.portsReleased)).toEqual(['http', 'dns'])
  expect(messagesOf(change)).toEqual([
    `Replica 0 of web could not have its port admin 20001 on host node1. ${message} The port is in quarantine there, and the replica is placed again.`,
  ])
})

test('the port of a stopping replica goes into quarantine, too, and the stop is confirmed', () => {
  const scene = new Scene({ replicas: 1 })
  scene.place()
  const placed = scene.row(0)
  scene.scale(0)
  const change = scene.report([
    reportOf(placed, { state: 'ENDED', ready: false, endReason: 'PORT_TAKEN', takenPorts: ['http'] }),
  ])
  expect(change.hosts[0]).toMatchObject({ portsQuarantined: [{ name: 'http' }], portsReleased: [] })
  expect(scene.store.alive).toEqual([])
})

describe('however often it happens in a row', () => {
  const conflicts = 40
  const busy = (service = {}) => {
    const scene = new Scene({ replicas: 1, ...service })
    const told: string[] = []
    for (let conflict = 1; conflict <= conflicts; conflict++) {
      told.push(...messagesOf(scene.place()), ...messagesOf(scene.end(0, { endReason: 'PORT_TAKEN' })))
    }
    return { scene, told }
  }

  test('it is no failure, the replica keeps its row, and nothing is rolled back', () => {
    const { scene } = busy()
    expect(scene.snapshot.slots).toEqual([])
    expect(scene.row(0)).toMatchObject({ portConflicts: conflicts, state: 'PENDING', notBefore: null })
    const update = readyScene({ replicas: 1, settings: settings({ autoRollback: true }) })
    update.commit(updateTo('v2'))
    for (let conflict = 1; conflict <= conflicts; conflict++) {
      update.place()
      const placed = update.store.alive.find(({ versionNumber, hostId }) => versionNumber === 2 && hostId !== null)
      if (placed === undefined) throw new Error('The new one is placed.')
      update.report([reportOf(placed, { state: 'ENDED', ready: false, endReason: 'PORT_TAKEN' })])
    }
    expect(update.snapshot.columns.versionNumber).toBe(2)
    expect(update.snapshot.columns.status).toBe('PROGRESSING')
  })

  test('events tell of it at the 1st, 2nd, 4th, 8th … time', () => {
    const { told } = busy()
    expect(told.filter((message) => message.includes('could not have'))).toHaveLength(6)
    expect(told.filter((message) => message.includes('is placed on'))).toHaveLength(6)
    expect(told.at(-2)).toContain('This is the 32nd time.')
  })

  test('from the 20th on its blocker says how much of the range is taken, until it runs', () => {
    const { scene } = busy()
    const busyRange =
      'Of the 51 ports 22710 to 22760 of host node1, 18 are in quarantine because other programs use them and 0 are held by replicas.'
    const since = scene.ctx.now
    scene.place({ busyRange })
    const message = `Its ports were in use ${conflicts} times in a row. ${busyRange}`
    expect(scene.row(0).blocker).toMatchObject({ reason: 'NO_PORT', message, since })
    expect(scene.snapshot.columns.blockers).toMatchObject([{ reason: 'NO_PORT', since }])
    scene.wait(1).end(0, { endReason: 'PORT_TAKEN' })
    expect(scene.row(0).blocker).toMatchObject({ reason: 'NO_PORT', since })
    scene.place({ busyRange })
    scene.ready()
    expect(scene.row(0)).toMatchObject({ blocker: null, portConflicts: 0, ready: true })
  })
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
