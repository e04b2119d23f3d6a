import { bench, describe } from 'vitest'
import type { PlacementHost, WaitingReplica } from '../../src/model/host.ts'
import type { HostId, ServiceId } from '../../src/model/id.ts'
import { place } from '../../src/rules/placement/placement.ts'
import { anyPort, fixedPort, host, project, taken, waiting } from '../support/fixtures/placementInput.ts'

// npm run bench:placement
// Placements per second with 5,000 hosts and 150,000 running replicas, the reading of the input by place() included.
const hostCount = 5_000
const runningPerHost = 30
const now = 1_000_000

/** 30 replicas with 2 ports each on every host; loads differ. */
function cluster(): PlacementHost[] {
  return Array.from({ length: hostCount }, (_, number) => {
    const replicas = new Map<ServiceId, number>()
    for (let running = 0; running < runningPerHost; running++) {
      const service = `running-${(number * 7 + running * 131) % 3_000}` as ServiceId
      replicas.set(service, (replicas.get(service) ?? 0) + 1)
    }
    return host(`host-${String(number).padStart(4, '0')}`, {
      id: `host-${String(number).padStart(4, '0')}` as HostId,
      cpuMillis: 128_000,
      memoryMiB: 524_288,
      usedCpuMillis: 30_000 + ((number * 7_919) % 60_000),
      usedMemoryMiB: 100_000 + ((number * 104_729) % 300_000),
      lastPort: 20_000 + 2 * runningPerHost - 1,
      takenPorts: Array.from({ length: 2 * runningPerHost }, (_, port) => taken(20_000 + port)),
      replicasOf: replicas,
    })
  })
}

function queue(length: number, change: (number: number) => Partial<WaitingReplica>): WaitingReplica[] {
  return Array.from({ length }, (_, number) =>
    waiting(`replica-${String(number).padStart(6, '0')}`, {
      ports: [anyPort('http'), anyPort('admin')],
      createdAt: 1_000 + Math.floor(number / 100),
      ...change(number),
    }),
  )
}

const service = (name: string | number) => ({
  serviceId: `service-${name}` as ServiceId,
  serviceName: `service-${name}`,
})
const strict = { spreadMode: 'STRICT' } as const
const running = (number: number) => ({ serviceId: `running-${number % 3_000}` as ServiceId })

const cases: readonly (readonly [string, WaitingReplica[]])[] = [
  ['5,000 of one new service', queue(5_000, () => service('one'))],
  ['5,000 of one running service, spread evenly', queue(5_000, () => running(0))],
  ['5,000 of 50 services, by turns', queue(5_000, (number) => service(number % 50))],
  ['5,000 of 3,000 running services', queue(5_000, running)],
  [
    '5,000 services of one, each of another shape',
    queue(5_000, (number) => ({ ...service(number), cpuMillis: 500 + number })),
  ],
  [
    '5,000 STRICT with a fixed port',
    queue(5_000, () => ({ ...service('strict'), ...strict, ports: [fixedPort('http', 8080)] })),
  ],
  [
    '5,000 that avoid the host they failed on',
    queue(5_000, (number) => ({ ...running(0), avoidHostId: `host-${number % 1_000}` as HostId })),
  ],
  [
    '5,000 of one shape that fits nowhere, of 5,000 services',
    queue(5_000, (number) => ({ ...service(number), ...strict, cpuMillis: 999_999 })),
  ],
  ['100 of 10 services', queue(100, (number) => service(number % 10))],
]

describe('placement', () => {
  const hosts = cluster()
  for (const [name, replicas] of cases) {
    const millis: number[] = []
    bench(
      name,
      () => {
        const startedAt = performance.now()
        place({ waiting: replicas, hosts, projects: [project()], now })
        millis.push(performance.now() - startedAt)
      },
      {
        time: 500,
        warmupTime: 100,
        teardown(_, mode) {
          const median = millis.sort((a, b) => a - b)[millis.length >> 1] ?? Number.NaN
          if (mode === 'run')
            console.log(`${name}: ${Math.round((replicas.length / median) * 1_000).toLocaleString('en')} placements/s`)
        },
      },
    )
  }
})
