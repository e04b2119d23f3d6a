import type { WorkerId } from './id.ts'
import type { Reporter } from './intent.ts'
import type { Replica } from './service.ts'

/** Alive: not ended. A stopping replica still holds its host, ports and quota. */
export const isAlive = (replica: Pick<Replica, 'state'>): boolean => replica.state !== 'ENDED'

/** Active: not ended and not stopping. */
export const isActive = (replica: Pick<Replica, 'state'>): boolean =>
  replica.state !== 'ENDED' && replica.state !== 'STOPPING'

/** On a host: it holds CPU, memory and ports there. */
export const isPlaced = (replica: Pick<Replica, 'state' | 'hostId'>): boolean =>
  replica.state !== 'ENDED' && replica.hostId !== null

/** On the worker: what that one is to run, or to stop. */
export const isOn = (replica: Pick<Replica, 'state' | 'hostId' | 'workerId'>, worker: WorkerId): boolean =>
  isPlaced(replica) && replica.workerId === worker

/** On the worker, and on the host that it speaks for now. */
export const isOfReporter = (
  replica: Pick<Replica, 'state' | 'hostId' | 'workerId'>,
  { workerId, hostId }: Reporter,
): boolean => isOn(replica, workerId) && replica.hostId === hostId

/** Its worker has confirmed the process of the current start. */
export const isConfirmed = (replica: Pick<Replica, 'state' | 'startedAt'>): boolean =>
  replica.state !== 'ENDED' && replica.startedAt !== null

/** Outdated (DESIGN, section 4): its content differs from the target's, or it is leaving. */
export const isOutdated = (replica: Pick<Replica, 'contentNumber' | 'leaving'>, targetContent: number): boolean =>
  replica.contentNumber !== targetContent || replica.leaving !== null
