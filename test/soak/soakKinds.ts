import { isCreation } from '../../src/feed/serviceListChange.ts'
import type { Frame } from '../feed/subscriber.ts'
import { type SoakLog, unique } from './soakLog.ts'

/** A kind of subscription besides that to an endpoint, which SoakSubscriber follows. */
export interface SoakKind {
  readonly document: string
  /** What a frame with all its parts tells, in the words of the log. */
  readonly told: (parts: readonly Frame[]) => readonly string[]
  /** What a frame over (from, to] has to tell; nothing: there is no such frame. */
  readonly expected: (log: SoakLog, service: string, from: bigint, to: bigint) => readonly string[]
  /** A frame of a service's own subscription may be GONE, and the next one of its name begins anew. */
  readonly isOfService: boolean
}

const bare = (id: string) => id.slice(id.indexOf('_') + 1)
const idsOf = (parts: readonly Frame[], field: string) =>
  parts.flatMap((part) => (part[field] as readonly { readonly id: string }[]).map(({ id }) => bare(id)))
const removedOf = (parts: readonly Frame[]) => parts.flatMap((part) => (part['removedIds'] as string[]).map(bare))
const wishes = 'after: $after, bookmarks: true'

export const soakKinds = {
  eventAdded: {
    document: `subscription ($after: Revision) { eventAdded(${wishes}) { kind revision events { revision } } }`,
    told: (parts) =>
      parts.flatMap((part) => (part['events'] as { revision: string }[]).map(({ revision }) => revision)),
    expected: (log, _service, from, to) => log.events(from, to),
    isOfService: false,
  },
  servicesChanged: {
    document: `subscription ($after: Revision) { servicesChanged(${wishes}) { kind revision last services { id endpoint { revision } } removedIds } }`,
    told: (parts) => unique([...idsOf(parts, 'services'), ...removedOf(parts).map((id) => `removed ${id}`)]),
    expected: (log, _service, from, to) => log.services(from, to),
    isOfService: false,
  },
  hostsChanged: {
    document: `subscription ($after: Revision) { hostsChanged(${wishes}) { kind revision last hosts { id } removedIds } }`,
    told: (parts) => unique([...idsOf(parts, 'hosts'), ...removedOf(parts)]),
    expected: (log, _service, from, to) => log.hosts(from, to),
    isOfService: false,
  },
  replicasChanged: {
    document: `subscription ($service: String!, $after: Revision) { replicasChanged(service: { name: $service }, ${wishes}) { kind revision last replicas { id host { name } version { number } } removedIds } }`,
    told: (parts) => unique([...idsOf(parts, 'replicas'), ...removedOf(parts).map((id) => `ended ${id}`)]),
    expected: (log, service, from, to) =>
      unique(
        log
          .changesOf(service, from, to)
          .flatMap(({ replicas, ended }) => [...replicas, ...ended.map((id) => `ended ${id}`)]),
      ),
    isOfService: true,
  },
  serviceChanged: {
    document: `subscription ($service: String!, $after: Revision) { serviceChanged(service: { name: $service }, ${wishes}) { kind revision service { name endpoint { revision addresses { id } } } } }`,
    told: () => ['changed'],
    expected: (log, service, from, to) => (log.changesOf(service, from, to).length === 0 ? [] : ['changed']),
    isOfService: true,
  },
  rolloutChanged: {
    document: `subscription ($service: String!, $after: Revision) { rolloutChanged(service: { name: $service }, ${wishes}) { kind revision rollout { number to { number } } } }`,
    told: () => ['changed'],
    expected: (log, service, from, to) =>
      log.changesOf(service, from, to).some(({ rollouts }) => rollouts.length > 0) ? ['changed'] : [],
    isOfService: true,
  },
} as const satisfies Record<string, SoakKind>

/** Whether a service of this name came into being in the interval. */
export function isCreatedIn(log: SoakLog, service: string, from: bigint, to: bigint): boolean {
  return log.changesOf(service, from, to).some(isCreation)
}

/** Whether a service of this name was gone in the interval. */
export function isGoneIn(log: SoakLog, service: string, from: bigint, to: bigint): boolean {
  return log.changesOf(service, from, to).some(({ after }) => after.deletedAt != null)
}
