import { describe, expect, test } from 'vitest'
import { endedReason } from '../../../src/model/endedReason.ts'
import type { PlacementHost, PlacementProject, PortHolder, WaitingReplica } from '../../../src/model/host.ts'
import type { HostId, ProjectId, ServiceId } from '../../../src/model/id.ts'
import { place, withHolders } from '../../../src/rules/placement/placement.ts'
import { portKey, unknownHolders } from '../../../src/rules/placement/portHolders.ts'
import { anyPort, fixedPort, host, project, taken, waiting } from '../../support/fixtures/placementInput.ts'

const now = 1_000_000
const run = (replicas: WaitingReplica[], hosts: PlacementHost[], projects: PlacementProject[] = [project()]) =>
  place({ waiting: replicas, hosts, projects, now })
const hostsOf = (placement: ReturnType<typeof run>) =>
  Object.fromEntries(placement.grants.map((grant) => [grant.replicaId, grant.hostName]))
const portsOf = (placement: ReturnType<typeof run>) =>
  placement.grants.map((grant) => grant.ports.map((port) => port.port))
const blockerOf = (placement: ReturnType<typeof run>) => placement.holds[0]?.blocker

test('a grant says all that its commit takes', () => {
  const placement = run([waiting('r1', { ports: [anyPort('http'), fixedPort('dns', 53, 'UDP')] })], [host('h1')])
  expect(placement).toEqual({
    grants: [
      {
        serviceId: 'api',
        replicaId: 'r1',
        hostId: 'h1',
        hostName: 'h1',
        hostAddresses: ['10.0.0.1'],
        workerId: 'h1',
        allocation: 7,
        ports: [
          { name: 'http', port: 20_000, protocol: 'TCP' },
          { name: 'dns', port: 53, protocol: 'UDP' },
        ],
        lastPort: 20_000,
        busyRange: null,
      },
    ],
    holds: [],
  })
})

describe('R14: the queue', () => {
  const room = (replicas: number) => [host('h1', { cpuMillis: replicas * 1_000 })]

  test('priority first, then age, then the id', () => {
    const replicas = [
      waiting('young', { createdAt: 9 }),
      waiting('old-b', { createdAt: 1 }),
      waiting('old-a', { createdAt: 1 }),
      waiting('urgent', { createdAt: 10, queuePriority: 5 }),
    ]
    expect(Object.keys(hostsOf(run(replicas, room(1))))).toEqual(['urgent'])
    expect(Object.keys(hostsOf(run(replicas, room(2))))).toEqual(['urgent', 'old-a'])
    expect(Object.keys(hostsOf(run(replicas, room(3))))).toEqual(['urgent', 'old-a', 'old-b'])
  })

  test('one that does not fit never delays those behind it', () => {
    const placement = run(
      [waiting('big', { createdAt: 1, cpuMillis: 50_000 }), waiting('small', { createdAt: 2 })],
      room(1),
    )
    expect(Object.keys(hostsOf(placement))).toEqual(['small'])
    expect(placement.holds.map((hold) => hold.replica)).toEqual(['big'])
  })
})

describe('R14: spread', () => {
  const api = 'api' as ServiceId
  const three = [
    host('h1', { replicasOf: new Map([[api, 2]]) }),
    host('h2', { replicasOf: new Map([[api, 1]]) }),
    host('h3'),
  ]
  const four = ['r1', 'r2', 'r3', 'r4']

  test('BEST_EFFORT fills up evenly and never waits', () => {
    const placement = run(
      four.map((name) => waiting(name)),
      three,
    )
    expect(hostsOf(placement)).toEqual({ r1: 'h3', r2: 'h2', r3: 'h3', r4: 'h1' })
  })

  test('STRICT keeps maxPerHost and waits with SPREAD', () => {
    const placement = run(
      four.map((name) => waiting(name, { spreadMode: 'STRICT' })),
      three,
    )
    expect(hostsOf(placement)).toEqual({ r1: 'h3' })
    expect(blockerOf(placement)).toEqual({
      reason: 'SPREAD',
      message:
        'No host is left for another replica of api, whose STRICT spread allows 1 per host (3 hosts: 3 have a replica already). Add a host or raise maxPerHost.',
      remedy: 'Add a host or raise maxPerHost.',
      count: 1,
      since: now,
      until: null,
      replica: 'r2',
    })
    const two = run(
      four.map((name) => waiting(name, { spreadMode: 'STRICT', maxPerHost: 2 })),
      three,
    )
    expect(hostsOf(two)).toEqual({ r1: 'h3', r2: 'h2', r3: 'h3' })
    expect(blockerOf(two)?.message).toContain('3 have 2 replicas already')
  })

  test('NONE looks at the load only', () => {
    const hosts = [host('h1', { usedCpuMillis: 4_000 }), host('h2', { replicasOf: new Map([[api, 5]]) })]
    expect(hostsOf(run([waiting('r1', { spreadMode: 'NONE' })], hosts))).toEqual({ r1: 'h2' })
    expect(hostsOf(run([waiting('r1')], hosts))).toEqual({ r1: 'h1' })
  })

  test('of equal hosts the least loaded', () => {
    const hosts = [
      host('h1', { usedCpuMillis: 4_000 }),
      host('h2', { usedMemoryMiB: 12_000 }),
      host('h3', { usedCpuMillis: 2_000 }),
    ]
    expect(
      hostsOf(
        run(
          ['r1', 'r2', 'r3'].map((name) => waiting(name)),
          hosts,
        ),
      ),
    ).toEqual({ r1: 'h3', r2: 'h1', r3: 'h2' })
  })
})

describe('R10: the host it failed on', () => {
  const h1 = 'h1' as HostId

  test('another is preferred, however loaded', () => {
    const hosts = [host('h1'), host('h2', { usedCpuMillis: 7_000, replicasOf: new Map([['api' as ServiceId, 3]]) })]
    expect(hostsOf(run([waiting('r1', { avoidHostId: h1 })], hosts))).toEqual({ r1: 'h2' })
  })

  test('where there is no other it is taken', () => {
    expect(hostsOf(run([waiting('r1', { avoidHostId: h1 })], [host('h1')]))).toEqual({ r1: 'h1' })
    const full = [host('h1'), host('h2', { usedCpuMillis: 7_500 })]
    expect(hostsOf(run([waiting('r1', { avoidHostId: h1 })], full))).toEqual({ r1: 'h1' })
  })

  test('it stays for those that do not avoid it', () => {
    const replicas = [waiting('r1', { avoidHostId: h1 }), waiting('r2')]
    expect(hostsOf(run(replicas, [host('h1'), host('h2', { usedCpuMillis: 1_000 })]))).toEqual({ r1: 'h2', r2: 'h1' })
  })
})

describe('R15: the host that it is to leave', () => {
  const h1 = 'h1' as HostId
  const moved = (name: string, change: Partial<WaitingReplica> = {}) =>
    waiting(name, { bannedHostId: h1, avoidHostId: h1, ...change })

  test('is never taken, however loaded the others are, and stays for the others', () => {
    const hosts = [host('h1'), host('h2', { usedCpuMillis: 5_000 })]
    expect(hostsOf(run([moved('r1'), waiting('r2')], hosts))).toEqual({ r1: 'h2', r2: 'h1' })
  })

  test('where there is no other the blocker says so, and the others are placed', () => {
    const hosts = [host('h1'), host('h2', { scheduling: 'CORDONED' })]
    const { grants, holds } = run([moved('r1'), waiting('r2')], hosts)
    expect(grants.map(({ replicaId, hostId }) => [replicaId, hostId])).toEqual([['r2', 'h1']])
    expect(holds.map(({ blocker }) => blocker)).toMatchObject([
      {
        reason: 'NO_HOST',
        message:
          'No other host takes replicas (2 hosts: 1 cordoned, 1 that it is to leave). Start a worker on another host or uncordon one.',
      },
    ])
  })

  test('where the others have no room, or the same host failed it before, it waits or takes a third one', () => {
    const full = host('h2', { usedCpuMillis: 7_500 })
    expect(run([moved('r1')], [host('h1'), full]).holds).toMatchObject([{ blocker: { reason: 'NO_CAPACITY' } }])
    const hosts = [host('h1'), host('h2'), host('h3', { usedCpuMillis: 5_000 })]
    expect(hostsOf(run([moved('r1', { avoidHostId: 'h2' as HostId })], hosts))).toEqual({ r1: 'h3' })
  })
})

describe('R13: ports', () => {
  const http = [anyPort('http')]
  const give = (change: Partial<PlacementHost>, ports = http, replicas = 1) =>
    portsOf(
      run(
        Array.from({ length: replicas }, (_, i) => waiting(`r${i}`, { ports })),
        [host('h1', change)],
      ),
    )

  test.each<readonly [string, Partial<PlacementHost>, number]>([
    ['the first of the range on a new host', {}, 20_000],
    ['the next after the last given', { lastPort: 20_004 }, 20_005],
    ['not one that was free again before it', { lastPort: 20_004, takenPorts: [taken(20_005)] }, 20_006],
    ['round at the end', { lastPort: 32_000 }, 20_000],
    ['round at the end, over a taken one', { lastPort: 31_999, takenPorts: [taken(32_000), taken(20_000)] }, 20_001],
    ['not a reserved one', { reservedPorts: [20_000, 20_001] }, 20_002],
    ['one that only the other protocol holds', { takenPorts: [taken(20_000, 'UDP')] }, 20_000],
    ['not one in quarantine', { takenPorts: [taken(20_000, 'TCP', now + 1)] }, 20_001],
    ['one whose quarantine is over', { takenPorts: [taken(20_000, 'TCP', now)] }, 20_000],
    ['from the start of a range that was moved', { portFrom: 30_000, portTo: 30_010, lastPort: 20_500 }, 30_000],
  ])('any free: %s', (_, change, expected) => {
    expect(give(change)).toEqual([[expected]])
  })

  test('all ports of a replica at once, each replica its own', () => {
    const ports = [anyPort('http'), anyPort('admin'), anyPort('dns', 'UDP')]
    expect(give({}, ports, 2)).toEqual([
      [20_000, 20_001, 20_002],
      [20_003, 20_004, 20_005],
    ])
    // Two TCP ports are left: not enough for two, and nothing is taken by the try.
    const small = { portFrom: 20_000, portTo: 20_002 }
    expect(give(small, [anyPort('a'), anyPort('b')], 3)).toEqual([[20_000, 20_001]])
  })

  test('a fixed port of the range is not given as a free one of the same replica', () => {
    expect(give({ portFrom: 20_000, portTo: 20_001 }, [anyPort('a'), fixedPort('b', 20_000)])).toEqual([
      [20_001, 20_000],
    ])
    expect(give({ portFrom: 20_000, portTo: 20_000 }, [anyPort('a'), fixedPort('b', 20_000)])).toEqual([])
    expect(give({ portFrom: 20_000, portTo: 20_000 }, [anyPort('a'), fixedPort('b', 20_000, 'UDP')])).toEqual([
      [20_000, 20_000],
    ])
  })

  test('a fixed port is free once per host and protocol, inside or outside the range', () => {
    const hosts = [host('h1', { takenPorts: [taken(8080)] }), host('h2'), host('h3', { reservedPorts: [8080] })]
    const placement = run(
      ['r1', 'r2'].map((name) => waiting(name, { ports: [fixedPort('http', 8080)] })),
      hosts,
    )
    expect(hostsOf(placement)).toEqual({ r1: 'h2' })
    expect(blockerOf(placement)).toMatchObject({ reason: 'NO_PORT', until: null })
    expect(hostsOf(run([waiting('r1', { ports: [fixedPort('dns', 8080, 'UDP')] })], [hosts[0] ?? host('h1')]))).toEqual(
      { r1: 'h1' },
    )
  })

  test('a port that only a quarantine keeps: the blocker says until when', () => {
    const hosts = [
      host('h1', { takenPorts: [taken(8080, 'TCP', now + 60_000)] }),
      host('h2', { takenPorts: [taken(8080, 'TCP', now + 30_000), taken(8081, 'TCP', now + 5_000)] }),
      host('h3', { takenPorts: [taken(8080)] }),
    ]
    expect(blockerOf(run([waiting('r1', { ports: [fixedPort('http', 8080)] })], hosts))).toMatchObject({
      reason: 'NO_PORT',
      until: now + 30_000,
    })
  })
})

describe('R13: NO_PORT of a fixed port names who holds it', () => {
  const needs = (...ports: number[]) => ({ ports: ports.map((port) => fixedPort(`p${port}`, port)) })
  const stop = (goneIn: number, isReachable = true) => ({ seconds: 13, goneAt: now + goneIn * 1_000, isReachable })
  const web = (over: Partial<Extract<PortHolder, { kind: 'replica' }>> = {}): PortHolder => ({
    ...{ kind: 'replica', project: 'default', service: 'web', index: 2, stop: null },
    ...over,
  })
  const has = 'On host h1 web[2] of project default has port 8080'

  test.each<readonly [string, Partial<PlacementHost>, PortHolder | null, string, number | null]>([
    ['a service', { takenPorts: [taken(8080)] }, web(), `${has}. `, null],
    [
      'a stopping replica, and when it will be gone',
      { takenPorts: [taken(8080)] },
      web({ stop: stop(9) }),
      `${has} and is being stopped, which takes at most 13 s. `,
      now + 9_000,
    ],
    [
      'a stopping replica that is late',
      { takenPorts: [taken(8080)] },
      web({ stop: stop(-1) }),
      `${has} and is being stopped, which takes at most 13 s. `,
      null,
    ],
    [
      'a stopping replica out of reach',
      { takenPorts: [taken(8080)] },
      web({ stop: stop(9, false) }),
      `${has} and is being stopped, but its worker cannot be reached. `,
      null,
    ],
    [
      'a LOST worker',
      { takenPorts: [taken(8080)] },
      { kind: 'lostWorker', worker: 'w1' },
      'On host h1 port 8080 is kept for worker w1, which is lost and may still run what had it: removeWorker gives it back. ',
      null,
    ],
    [
      'a program that is not ours',
      { takenPorts: [taken(8080, 'TCP', now + 60_000)] },
      null,
      'On host h1 a program that was not started by the worker uses port 8080. It is tried again at the end of this blocker, or as soon as a worker that watches it sees it free. ',
      now + 60_000,
    ],
    [
      'a reservation',
      { reservedPorts: [8080] },
      null,
      "On host h1 port 8080 is reserved by its worker's settings. ",
      null,
    ],
    ['somebody who has left meanwhile', { takenPorts: [taken(8080)] }, null, '', null],
  ])('%s', (_, change, holder, sentence, until) => {
    const [hold] = run([waiting('r1', needs(8080))], [host('h1', change)]).holds
    if (hold === undefined) throw new Error('It is held.')
    const unknown = unknownHolders([hold.obstacle])
    expect(unknown).toHaveLength(change.takenPorts?.[0]?.quarantinedUntil === null ? 1 : 0)
    const holders = new Map(unknown.flatMap((port) => (holder === null ? [] : [[portKey(port), holder] as const])))
    const { blocker } = withHolders(hold, holders, now)
    expect(blocker).toMatchObject({ reason: 'NO_PORT', until })
    expect(blocker.message).toBe(
      `No host has port 8080 free (1 host: 1 without port 8080 free). ${sentence}Add a host, or free that port on one of them.`,
    )
  })

  test('one that got it in the same placement', () => {
    const replicas = ['a', 'b'].map((name, index) => waiting(name, { ...needs(8080), index }))
    expect(blockerOf(run(replicas, [host('h1')]))?.message).toContain(' On host h1 api[0] has just got port 8080. ')
  })

  test('of many hosts the first are named, and the others counted', () => {
    const hosts = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((name) => host(name, { reservedPorts: [8080, 8081] }))
    const message = blockerOf(run([waiting('r1', needs(8080, 8081))], hosts))?.message
    expect(message?.match(/On host/g)).toHaveLength(4)
    expect(message).toContain(' 4 more hosts lack it, too. ')
  })

  test('a host frees all of them when the last is free', () => {
    const [hold] = run(
      [waiting('r1', needs(8080, 8081))],
      [host('h1', { takenPorts: [taken(8080), taken(8081, 'TCP', now + 5_000)] })],
    ).holds
    if (hold === undefined) throw new Error('It is held.')
    const holders = new Map(unknownHolders([hold.obstacle]).map((port) => [portKey(port), web({ stop: stop(9) })]))
    expect(hold.blocker.until).toBeNull()
    expect(withHolders(hold, holders, now).blocker.until).toBe(now + 9_000)
  })
})

test('R13: from 20 port conflicts in a row on a grant says how much of the range is taken', () => {
  const range = { portFrom: 22_710, portTo: 22_760, reservedPorts: [22_711, 53] }
  const takenPorts = [
    taken(22_712),
    taken(9, 'TCP', now + 1),
    ...[22_713, 22_714].map((port) => taken(port, 'TCP', now + 1)),
  ]
  const given = (portConflicts: number) =>
    run([waiting('r1', { portConflicts, ports: [anyPort('http')] })], [host('h1', { ...range, takenPorts })]).grants[0]
  expect(given(19)?.busyRange).toBeNull()
  expect(given(20)?.busyRange).toBe(
    'Of the 51 ports 22710 to 22760 of host h1, 2 are in quarantine because other programs use them, 1 is held by replicas and 1 is reserved.',
  )
})

describe('R17: quota', () => {
  const many = [host('h1', { cpuMillis: 100_000, memoryMiB: 100_000 })]
  const full = project({ maxReplicas: 10, usedReplicas: 9 })

  test('takes what is left, then waits with QUOTA', () => {
    const placement = run([waiting('r1'), waiting('r2')], many, [full])
    expect(Object.keys(hostsOf(placement))).toEqual(['r1'])
    expect(blockerOf(placement)).toMatchObject({
      reason: 'QUOTA',
      message: 'Project default has 10 of at most 10 replicas. Stop 1 of them, or raise its maxReplicas to 11 or more.',
      replica: 'r2',
    })
  })

  test('a replacement inherits it', () => {
    const replicas = [waiting('r1'), waiting('r2', { holdsQuota: true }), waiting('r3', { holdsQuota: true })]
    expect(Object.keys(hostsOf(run(replicas, many, [full])))).toEqual(['r1', 'r2', 'r3'])
  })

  test('what could not be placed takes none, and projects are apart', () => {
    const other = { projectId: 'other' as ProjectId }
    const replicas = [
      waiting('big', { createdAt: 1, cpuMillis: 200_000 }),
      waiting('r1'),
      waiting('r2', other),
      waiting('r3', other),
    ]
    const placement = run(replicas, many, [full, project({ id: other.projectId, name: 'other' })])
    expect(Object.keys(hostsOf(placement))).toEqual(['r1', 'r2', 'r3'])
  })
})

describe('blockers tell what keeps it off each host', () => {
  const four = ['a', 'b', 'c', 'd'].map((name) => anyPort(name))
  const crowded = { portFrom: 20_000, portTo: 20_002 }

  test.each<readonly [string, PlacementHost[], Partial<WaitingReplica>, string, string]>([
    ['no host', [], {}, 'NO_HOST', 'There is no host. Start a worker on one.'],
    [
      'none that takes replicas',
      [
        host('h1', { scheduling: 'CORDONED' }),
        host('h2', { scheduling: 'DRAINING' }),
        host('h3', { reachability: 'UNREACHABLE' }),
        host('h4', { reachability: 'LOST', scheduling: 'CORDONED' }),
      ],
      {},
      'NO_HOST',
      'No host takes replicas (4 hosts: 1 cordoned, 1 drained, 1 unreachable, 1 lost). Start a worker on another host, uncordon one or start a worker again on one that is silent.',
    ],
    [
      'hosts that ended in order, which are not lost',
      [
        host('h1', { reachability: 'LOST', reason: endedReason }),
        host('h2', { reachability: 'LOST', reason: 'Worker w2 is lost.' }),
        host('h3', { scheduling: 'CORDONED' }),
      ],
      {},
      'NO_HOST',
      'No host takes replicas (3 hosts: 1 cordoned, 1 lost, 1 ended). Start a worker on another host, uncordon one, start a worker again on one that is silent or start a worker again on one where it has ended.',
    ],
    [
      'CPU and memory',
      [host('h1', { usedCpuMillis: 7_500 }), host('h2', { usedMemoryMiB: 16_000 }), host('h3', { cpuMillis: 500 })],
      {},
      'NO_CAPACITY',
      'No host has room for 1000 CPU millis and 1024 MiB (3 hosts: 2 without 1000 CPU millis free, 1 without 1024 MiB free). Add a host or stop something there.',
    ],
    [
      'ports, mostly',
      [
        host('h1', { scheduling: 'CORDONED' }),
        host('h2', { scheduling: 'CORDONED' }),
        host('h3', crowded),
        host('h4', crowded),
        host('h5', { replicasOf: new Map([['api' as ServiceId, 1]]) }),
      ],
      { ports: four, spreadMode: 'STRICT' },
      'NO_PORT',
      'No host has 4 ports of its range free (5 hosts: 2 cordoned, 2 without 4 free ports, 1 has a replica already). Add a host or stop something there.',
    ],
    [
      'fixed ports',
      [host('h1', { takenPorts: [taken(53, 'UDP')] })],
      { ports: [fixedPort('http', 8080), fixedPort('dns', 53, 'UDP'), anyPort('admin')] },
      'NO_PORT',
      'No host has ports 53/udp, 8080 and 1 port of its range free (1 host: 1 without ports 53/udp, 8080 free). Add a host, or free those ports on one of them.',
    ],
  ])('%s', (_, hosts, change, reason, message) => {
    const blocker = blockerOf(run([waiting('r1', change)], hosts))
    expect(blocker?.message).toBe(message)
    expect(blocker?.reason).toBe(reason)
  })
})

test('what is passed in is not changed', () => {
  const hosts = [host('h2', { replicasOf: new Map() }), host('h1', { scheduling: 'CORDONED' })]
  const replicas = [waiting('r2', { ports: [anyPort('http')] }), waiting('r1')]
  const before = structuredClone({ hosts, replicas })
  run(replicas, hosts)
  expect({ hosts, replicas }).toEqual(before)
})
