import type { AllocatedPort, PortDeclaration } from '../../src/model/content.ts'
import type { PlacementHost, PlacementProject, PlacementWorker, WaitingReplica } from '../../src/model/host.ts'
import type { HostId, ProjectId, ReplicaId, ServiceId, WorkerId } from '../../src/model/id.ts'

export const project = (change: Partial<PlacementProject> = {}): PlacementProject => ({
  id: 'project' as ProjectId,
  name: 'default',
  maxReplicas: null,
  usedReplicas: 0,
  ...change,
})

type Room = Pick<PlacementWorker, 'cpuMillis' | 'memoryMiB' | 'usedCpuMillis' | 'usedMemoryMiB'>

/** A worker of 8 cores and 16 GiB. */
export const worker = (name: string, change: Partial<PlacementWorker> = {}): PlacementWorker => ({
  id: name as WorkerId,
  reachability: 'REACHABLE',
  draining: false,
  cpuMillis: 8_000,
  memoryMiB: 16_384,
  usedCpuMillis: 0,
  usedMemoryMiB: 0,
  ...change,
})

/** A host with one worker, which is as reachable as the host and has the room that is told. */
export const host = (
  name: string,
  {
    cpuMillis = 8_000,
    memoryMiB = 16_384,
    usedCpuMillis = 0,
    usedMemoryMiB = 0,
    ...change
  }: Partial<PlacementHost & Room> = {},
): PlacementHost => ({
  id: name as HostId,
  name,
  addresses: ['10.0.0.1'],
  scheduling: 'OPEN',
  reachability: 'REACHABLE',
  allocation: 7,
  workers: [
    worker(name.replace('host', 'worker'), {
      ...{ cpuMillis, memoryMiB, usedCpuMillis, usedMemoryMiB },
      reachability: change.reachability ?? 'REACHABLE',
    }),
  ],
  portFrom: 20_000,
  portTo: 32_000,
  reservedPorts: [],
  lastPort: 0,
  takenPorts: [],
  replicasOf: new Map(),
  ...change,
})

export const waiting = (name: string, change: Partial<WaitingReplica> = {}): WaitingReplica => ({
  id: name as ReplicaId,
  serviceId: 'api' as ServiceId,
  serviceName: 'api',
  projectId: 'project' as ProjectId,
  queuePriority: 0,
  createdAt: 1_000,
  index: 0,
  cpuMillis: 1_000,
  memoryMiB: 1_024,
  ports: [],
  spreadMode: 'BEST_EFFORT',
  maxPerHost: 1,
  avoidHostId: null,
  holdsQuota: false,
  ...change,
})

export const anyPort = (name: string, protocol: PortDeclaration['protocol'] = 'TCP'): PortDeclaration => ({
  name,
  port: null,
  protocol,
})
export const fixedPort = (
  name: string,
  port: number,
  protocol: PortDeclaration['protocol'] = 'TCP',
): PortDeclaration => ({
  name,
  port,
  protocol,
})
export const taken = (
  port: number,
  protocol: AllocatedPort['protocol'] = 'TCP',
  quarantinedUntil: number | null = null,
) => ({
  port,
  protocol,
  quarantinedUntil,
})
