import { describe, expect, test } from 'vitest'
import { endedReason } from '../../../src/model/endedReason.ts'
import type { PlacementHost, PlacementProject, WaitingReplica } from '../../../src/model/host.ts'
import type { ServiceId } from '../../../src/model/id.ts'
import { place } from '../../../src/rules/placement/placement.ts'
import { anyPort, fixedPort, host, project, taken, waiting, worker } from '../../support/fixtures/placementInput.ts'

interface World {
  readonly replica: WaitingReplica
  readonly hosts: readonly PlacementHost[]
  readonly project: PlacementProject
}

const run = ({ replica, hosts, project: own }: World) =>
  place({ waiting: [replica], hosts, projects: [own], now: 1_000_000 })

const world = (over: Partial<World> = {}): World => ({
  replica: waiting('r1'),
  hosts: [host('h1')],
  project: project(),
  ...over,
})

/** What one piece of advice makes of the world; `number` is the number that the advice names. */
const followed: readonly (readonly [RegExp, (before: World, number: number) => World])[] = [
  [/[Ss]tart a worker on (?:one|another host)/, (before) => ({ ...before, hosts: [...before.hosts, host('h9')] })],
  [
    /uncordon one/,
    (before) => ({
      ...before,
      hosts: before.hosts.map((each) => ({
        ...each,
        scheduling: 'OPEN',
        workers: each.workers.map((own) => ({ ...own, draining: false })),
      })),
    }),
  ],
  [
    /start a worker again on one (?:that is silent|where it has ended)/,
    (before) => ({
      ...before,
      hosts: before.hosts.map((each) => {
        if (each.reachability === 'REACHABLE') return each
        return { ...each, reachability: 'REACHABLE', workers: [worker(`new on ${each.name}`)] }
      }),
    }),
  ],
  [/Add a host/, (before) => ({ ...before, hosts: [...before.hosts, host('h9')] })],
  [
    /add a host with a worker that is/,
    (before) => ({ ...before, hosts: [...before.hosts, host('h9', { cpuMillis: 64_000, memoryMiB: 65_536 })] }),
  ],
  [/ask for less/, (before) => ({ ...before, replica: { ...before.replica, cpuMillis: 1, memoryMiB: 1 } })],
  [
    /stop something there/,
    (before) => ({
      ...before,
      hosts: before.hosts.map((each) => ({
        ...each,
        workers: each.workers.map((own) => ({ ...own, usedCpuMillis: 0, usedMemoryMiB: 0 })),
        takenPorts: [],
      })),
    }),
  ],
  [
    /free (?:that port|those ports) on one of them/,
    (before) => ({ ...before, hosts: before.hosts.map((each) => ({ ...each, takenPorts: [] })) }),
  ],
  [
    /raise maxPerHost/,
    (before) => ({ ...before, replica: { ...before.replica, maxPerHost: before.replica.maxPerHost + 1 } }),
  ],
  [
    /Stop (\d+) of them/,
    (before, count) => ({
      ...before,
      project: { ...before.project, usedReplicas: before.project.usedReplicas - count },
    }),
  ],
  [
    /raise its maxReplicas to (\d+)/,
    (before, maxReplicas) => ({ ...before, project: { ...before.project, maxReplicas } }),
  ],
]

const large = waiting('r1', { cpuMillis: 9_000 })
const fixed = waiting('r1', { ports: [fixedPort('http', 8_080)] })
const strict = waiting('r1', { spreadMode: 'STRICT', maxPerHost: 2 })
const cases: readonly (readonly [string, World, number])[] = [
  ['there is no host', world({ hosts: [] }), 1],
  ['the host is cordoned', world({ hosts: [host('h1', { scheduling: 'CORDONED' })] }), 2],
  ['the host is being drained', world({ hosts: [host('h1', { scheduling: 'DRAINING' })] }), 2],
  ['its worker is being drained', world({ hosts: [host('h1', { workers: [worker('w1', { draining: true })] })] }), 2],
  ['the host is silent', world({ hosts: [host('h1', { reachability: 'UNREACHABLE' })] }), 2],
  ['the host is lost', world({ hosts: [host('h1', { reachability: 'LOST' })] }), 2],
  ["the host's worker has ended", world({ hosts: [host('h1', { reachability: 'LOST', reason: endedReason })] }), 2],
  [
    'one is lost and one cordoned',
    world({ hosts: [host('h1', { reachability: 'LOST' }), host('h2', { scheduling: 'CORDONED' })] }),
    3,
  ],
  ['the host is full', world({ hosts: [host('h1', { usedCpuMillis: 7_500 })] }), 2],
  ['no worker is large enough', world({ replica: large }), 2],
  ['the fixed port is held', world({ replica: fixed, hosts: [host('h1', { takenPorts: [taken(8_080)] })] }), 2],
  [
    'the range is full',
    world({
      replica: waiting('r1', { ports: [anyPort('http')] }),
      hosts: [host('h1', { portFrom: 30_000, portTo: 30_000, takenPorts: [taken(30_000)] })],
    }),
    2,
  ],
  [
    'STRICT spread',
    world({ replica: strict, hosts: [host('h1', { replicasOf: new Map([['api' as ServiceId, 2]]) })] }),
    2,
  ],
  ['the quota is used up', world({ project: project({ maxReplicas: 4, usedReplicas: 4 }) }), 2],
  ['the quota was lowered below what is used', world({ project: project({ maxReplicas: 3, usedReplicas: 7 }) }), 2],
]

describe('whoever follows the advice of a blocker gets the replica placed', () => {
  test.each(cases)('%s', (_what, before, pieces) => {
    const message = run(before).holds[0]?.blocker.message ?? ''
    const given = followed.flatMap(([pattern, follow]) => {
      const match = pattern.exec(message)
      return match === null ? [] : [{ advice: match[0], after: follow(before, Number(match[1])) }]
    })
    expect(given.length, message).toBe(pieces)
    for (const { advice, after } of given) expect(run(after).grants, `${advice} (of: ${message})`).toHaveLength(1)
  })
})
