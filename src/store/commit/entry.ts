import type { Room } from '../../model/host.ts'
import type { ServiceId } from '../../model/id.ts'
import type { NewService, ServiceIntent } from '../../model/intent.ts'
import type { ClusterChange, ClusterOutcome, Remember, StoreOutcome } from './outcome.ts'

interface Waiting<Outcome> {
  readonly remember: Remember | null
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}

/** Why an entry is decided again. Each reason has a bound of its own. */
export interface Tries {
  /** Another server changed the service in between. From the second time on, the service is locked first. */
  stale: number
  /** Any other reason: its connection was cut, another intent of its batch was refused, or there was a deadlock. */
  again: number
}

/** The counts of an entry that is new, or that has completed one commit of several. */
export const noTries: Readonly<Tries> = { stale: 0, again: 0 }

export interface IntentEntry extends Waiting<StoreOutcome> {
  readonly kind: 'intent'
  readonly id: ServiceId
  readonly intent: ServiceIntent
  /** The room that was looked up before; null where that is not known. */
  readonly room: Room | null
  readonly tries: Tries
}

export interface CreateEntry extends Waiting<StoreOutcome> {
  readonly kind: 'create'
  readonly service: NewService
  readonly actor: string
  readonly room: Room | null
  readonly tries: Tries
}

export interface ClusterEntry extends Waiting<ClusterOutcome> {
  readonly kind: 'clusterWrite'
  readonly change: ClusterChange
}

export type ServiceEntry = IntentEntry | CreateEntry
export type Entry = ServiceEntry | ClusterEntry

export function serviceOf(entry: ServiceEntry): ServiceId {
  return entry.kind === 'create' ? entry.service.id : entry.id
}
