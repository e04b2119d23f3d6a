import type { EndpointAddress } from '../../src/model/endpoint.ts'
import type { ServiceFactData } from '../../src/model/fact.ts'
import type { HostId, ProjectId, ReplicaId } from '../../src/model/id.ts'

/** An address of replica number `index` at its first start. */
export function address(index: number, over: Partial<EndpointAddress> = {}): EndpointAddress {
  const replicaId = `replica-${index}` as ReplicaId
  const start = over.start ?? 1
  const portName = over.portName ?? 'http'
  return {
    id: `${replicaId}:${portName}:${start}`,
    replicaId,
    index,
    start,
    host: 'host',
    address: '127.0.0.1',
    addresses: ['127.0.0.1'],
    port: 20_000 + index,
    protocol: 'TCP',
    portName,
    ready: true,
    serving: true,
    terminating: false,
    ...over,
  }
}

/** A change as a commit makes it. */
export function changeOf(over: Partial<ServiceFactData>): ServiceFactData {
  return {
    format: 1,
    name: 'web',
    projectId: 'project' as ProjectId,
    before: {},
    after: {},
    replicas: [],
    ended: [],
    hosts: ['host' as HostId],
    upserted: [],
    removed: [],
    replaced: [],
    rollouts: [],
    status: 'HEALTHY',
    dueAt: null,
    wakesPlacement: false,
    ...over,
  }
}
