import type { CommittedFact } from '../model/fact.ts'
import type { HostId } from '../model/id.ts'
import { type ServiceListChange, serviceListChangeOf } from './serviceListChange.ts'

/** The change that each topic of a list makes of one fact. */
export interface ListTopics {
  readonly services: ServiceListChange
  /** Hosts that changed, or whose use did. */
  readonly hosts: readonly HostId[]
  /** There may be an event. */
  readonly events: null
}

/** Says for each list what it makes of a fact; undefined: the fact does not concern it. A list without such a line does not compile. */
export const listChangeOf: {
  readonly [Name in keyof ListTopics]: (fact: CommittedFact) => ListTopics[Name] | undefined
} = {
  services: (fact) => (fact.kind === 'change' ? serviceListChangeOf(fact.serviceId, fact.data) : undefined),
  hosts: ({ kind, hostId, data }) => {
    if (kind === 'change') return data.hosts.length > 0 ? data.hosts : undefined
    return kind === 'host' && hostId !== null ? [hostId] : undefined
  },
  events: () => null,
}
