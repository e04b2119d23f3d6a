import fc from 'fast-check'
import { expect, test } from 'vitest'
import { endedReason } from '../../../src/model/endedReason.ts'
import type { PlacementHost, PlacementProject, PlacementWorker, WaitingReplica } from '../../../src/model/host.ts'
import type { HostId, ProjectId, ReplicaId, ServiceId, WorkerId } from '../../../src/model/id.ts'
import { bestOf } from '../../../src/rules/hosts/hostState.ts'
import { place } from '../../../src/rules/placement/placement.ts'
import { ledgersOf, QuotaLedger, queued } from '../../support/models/placementModel.ts'

const now = 1_000_000
const services = ['a', 'b', 'c'] as ServiceId[]
const protocol = fc.constantFrom('TCP' as const, 'UDP' as const)

const reachability = fc.constantFrom('REACHABLE', 'REACHABLE', 'REACHABLE', 'REACHABLE', 'UNREACHABLE', 'LOST')

const workerArbitrary = (id: string): fc.Arbitrary<PlacementWorker> =>
  fc.record({
    id: fc.constant(id as WorkerId),
    reachability,
    draining: fc.constantFrom(false, false, false, true),
    cpuMillis: fc.integer({ min: 1, max: 40 }),
    memoryMiB: fc.integer({ min: 1, max: 40 }),
    usedCpuMillis: fc.nat(10),
    usedMemoryMiB: fc.nat(10),
  })

const hostArbitrary = (id: number): fc.Arbitrary<PlacementHost> =>
  fc
    .tuple(hostAlone(id), fc.nat(2))
    .chain(([host, more]) =>
      fc
        .tuple(...Array.from({ length: 1 + more }, (_, at) => workerArbitrary(`worker-${id}-${at}`)))
        .map((workers) => ({ ...host, workers, reachability: bestOf(workers) })),
    )

const hostAlone = (id: number): fc.Arbitrary<Omit<PlacementHost, 'workers' | 'reachability'>> =>
  fc.record({
    id: fc.constant(`host-${id}` as HostId),
    name: fc.constant(`host-${id}`),
    addresses: fc.constant(['10.0.0.1']),
    scheduling: fc.constantFrom('OPEN', 'OPEN', 'OPEN', 'OPEN', 'CORDONED', 'DRAINING'),
    reason: fc.constantFrom(null, null, endedReason),
    allocation: fc.nat(9),
    portFrom: fc.constant(100),
    portTo: fc.integer({ min: 99, max: 112 }),
    reservedPorts: fc.uniqueArray(fc.integer({ min: 95, max: 115 }), { maxLength: 3 }),
    lastPort: fc.oneof(fc.constant(0), fc.integer({ min: 90, max: 120 })),
    takenPorts: fc.uniqueArray(
      fc.record({
        port: fc.integer({ min: 78, max: 113 }),
        protocol,
        quarantinedUntil: fc.constantFrom(null, null, now, now + 1),
      }),
      { maxLength: 8, selector: (port) => `${port.port}${port.protocol}` },
    ),
    replicasOf: fc
      .array(fc.tuple(fc.constantFrom(...services), fc.integer({ min: 1, max: 3 })), { maxLength: 2 })
      .map((rows) => new Map(rows)),
  })

const waitingArbitrary = (id: number): fc.Arbitrary<WaitingReplica> =>
  fc.record({
    id: fc.constant(`replica-${String(id).padStart(3, '0')}` as ReplicaId),
    serviceId: fc.constantFrom(...services),
    serviceName: fc.constant('service'),
    projectId: fc.constantFrom('p' as ProjectId, 'q' as ProjectId),
    queuePriority: fc.constantFrom(0, 0, 10),
    createdAt: fc.nat(3),
    index: fc.constant(id),
    cpuMillis: fc.integer({ min: 1, max: 12 }),
    memoryMiB: fc.constantFrom(1, 4, 12),
    ports: fc.uniqueArray(
      fc.record({
        name: fc.constantFrom('http', 'admin', 'dns', 'bulk'),
        port: fc.constantFrom(null, null, null, 80, 81, 103),
        protocol,
      }),
      {
        maxLength: 3,
        selector: (declared) => (declared.port === null ? declared.name : `${declared.port}${declared.protocol}`),
      },
    ),
    spreadMode: fc.constantFrom('NONE', 'BEST_EFFORT', 'STRICT'),
    maxPerHost: fc.integer({ min: 1, max: 2 }),
    avoidHostId: fc.option(fc.integer({ min: 0, max: 5 }).map((host) => `host-${host}` as HostId)),
    bannedHostId: fc.option(
      fc.integer({ min: 0, max: 5 }).map((host) => `host-${host}` as HostId),
      { freq: 3 },
    ),
    portConflicts: fc.constantFrom(0, 0, 20),
    holdsQuota: fc.boolean(),
  })

const listOf = <T>(item: (id: number) => fc.Arbitrary<T>, most: number): fc.Arbitrary<T[]> =>
  fc.nat(most).chain((length) => fc.tuple(...Array.from({ length }, (_, id) => item(id))) as fc.Arbitrary<T[]>)

const input = fc.record({
  hosts: listOf(hostArbitrary, 6),
  waiting: listOf(waitingArbitrary, 25),
  projects: fc.tuple(fc.option(fc.nat(12)), fc.nat(5)).map(([maxReplicas, usedReplicas]): PlacementProject[] => [
    { id: 'p' as ProjectId, name: 'p', maxReplicas, usedReplicas },
    { id: 'q' as ProjectId, name: 'q', maxReplicas: null, usedReplicas },
  ]),
})

function holds(condition: boolean, fault: string): void {
  if (!condition) throw new Error(fault)
}

test('each replica in turn gets the best host that has room, or a blocker where none has', { timeout: 60_000 }, () => {
  const reasons = new Map<string, number>()
  let granted = 0
  let elsewhere = 0
  const property = fc.property(input, ({ hosts, waiting, projects }) => {
    const placement = place({ waiting, hosts, projects, now })
    const reversed = place({ waiting: [...waiting].reverse(), hosts: [...hosts].reverse(), projects, now })
    holds(JSON.stringify(reversed) === JSON.stringify(placement), 'the order of the input matters')
    const ledgers = ledgersOf(hosts, now)
    const quota = new QuotaLedger(projects)
    const grants = new Map(placement.grants.map((grant) => [grant.replicaId, grant]))
    const blockers = new Map(placement.holds.map((hold) => [hold.replica, hold.blocker]))
    holds(grants.size + blockers.size === waiting.length, 'a replica is in none or both')

    const cursors = new Map(hosts.map((host) => [host.id, host.lastPort]))
    for (const replica of queued(waiting)) {
      const fitting = [...ledgers.values()].filter(
        (ledger) => ledger.host.id !== replica.bannedHostId && ledger.allows(replica),
      )
      const grant = grants.get(replica.id)
      if (grant === undefined) {
        const blocker = blockers.get(replica.id)
        reasons.set(blocker?.reason ?? '', (reasons.get(blocker?.reason ?? '') ?? 0) + 1)
        holds((blocker?.reason === 'QUOTA') === !quota.allows(replica), 'QUOTA where there is quota, or the reverse')
        holds(
          blocker?.reason === 'QUOTA' || fitting.length === 0,
          `${replica.id} waits though ${fitting[0]?.host.name} has room`,
        )
        continue
      }
      granted++
      const ledger = ledgers.get(grant.hostId)
      if (ledger === undefined) throw new Error('an unknown host')
      holds(grant.hostId !== replica.bannedHostId, `${replica.id} is on the host that it is to leave`)
      holds(ledger.allowsOn(grant.workerId, replica), `${replica.id} does not fit on ${grant.workerId}`)
      holds(quota.allows(replica), 'over quota')
      holds(grant.allocation === ledger.host.allocation, 'another allocation')
      const others = fitting.filter((other) => other.host.id !== replica.avoidHostId)
      if (replica.avoidHostId !== null && fitting.length > others.length && others.length > 0) elsewhere++
      holds(
        others.length === 0 || grant.hostId !== replica.avoidHostId,
        'the host it failed on, though there is another',
      )
      const choice = others.length > 0 ? others : fitting
      const fewest = Math.min(...choice.map((other) => other.count(replica)))
      holds(replica.spreadMode === 'NONE' || ledger.count(replica) === fewest, 'not spread evenly')

      holds(grant.ports.length === replica.ports.length, 'another number of ports')
      for (const [position, port] of grant.ports.entries()) {
        const declared = replica.ports[position]
        holds(declared?.name === port.name && declared.protocol === port.protocol, 'not as declared')
        holds(ledger.isFree(port.port, port.protocol), 'a port that is not free')
        if (declared?.port !== null) holds(declared?.port === port.port, 'another fixed port')
      }
      for (const [position, port] of grant.ports.entries())
        if (replica.ports[position]?.port !== null) ledger.block(port.port, port.protocol)
      for (const [position, port] of grant.ports.entries()) {
        if (replica.ports[position]?.port !== null) continue
        const cursor = cursors.get(grant.hostId) ?? 0
        const free = ledger.freeOfRange(port.protocol)
        holds(port.port === (free.find((one) => one > cursor) ?? free[0]), `not the next free port after ${cursor}`)
        cursors.set(grant.hostId, port.port)
        ledger.block(port.port, port.protocol)
      }
      holds(grant.lastPort === cursors.get(grant.hostId), 'another cursor')
      ledger.use(grant.workerId, replica)
      quota.use(replica)
    }
  })
  fc.assert(property, { numRuns: 1_000 })
  expect(granted).toBeGreaterThan(1_000)
  expect(elsewhere).toBeGreaterThan(50)
  expect([...reasons.keys()].sort()).toEqual(['NO_CAPACITY', 'NO_HOST', 'NO_PORT', 'QUOTA', 'SPREAD'])
})
