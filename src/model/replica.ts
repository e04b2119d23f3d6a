import type { ReplicaState } from '../generated/prisma/enums.ts'
import type { HostId, WorkerId } from './id.ts'
import type { Reporter } from './intent.ts'
import type { Replica } from './service.ts'

/** How far each state is from its end. Nothing compiles until a new state of the database has a place here. */
const lives = {
  PENDING: 'active',
  STARTING: 'active',
  RUNNING: 'active',
  STOPPING: 'stopping',
  ENDED: 'ended',
} as const satisfies Record<ReplicaState, 'active' | 'stopping' | 'ended'>

type InState = Pick<Replica, 'state'>

/** The states of replicas that have not ended. A stopping replica still holds its host, ports and quota. */
export const aliveStates = (Object.keys(lives) as ReplicaState[]).filter((state) => lives[state] !== 'ended')

/** A replica is alive until it has ended. */
export const isAlive = ({ state }: InState): boolean => lives[state] !== 'ended'

/** A replica is active while it is alive and not being stopped. */
export const isActive = ({ state }: InState): boolean => lives[state] === 'active'

/** The host whose CPU, memory and ports the replica holds; null when it waits for one or has ended. */
export const hostHeldBy = (replica: Pick<Replica, 'state' | 'hostId'>): HostId | null =>
  isAlive(replica) ? replica.hostId : null

/** The replica holds CPU, memory and ports of a host. */
export const isPlaced = (replica: Pick<Replica, 'state' | 'hostId'>): boolean => hostHeldBy(replica) !== null

/** The worker is to run the replica, or to stop it. */
export const isOn = (replica: Pick<Replica, 'state' | 'hostId' | 'workerId'>, worker: WorkerId): boolean =>
  isPlaced(replica) && replica.workerId === worker

/** The replica is on the worker, and on the host that the worker speaks for now. */
export const isOfReporter = (
  replica: Pick<Replica, 'state' | 'hostId' | 'workerId'>,
  { workerId, hostId }: Reporter,
): boolean => isOn(replica, workerId) && replica.hostId === hostId

/** The worker has confirmed the process of the current start. */
export const isConfirmed = (replica: Pick<Replica, 'state' | 'startedAt'>): boolean =>
  isAlive(replica) && replica.startedAt !== null

/** R15: while it is available it is stopped only when another replica has a place, because it leaves for the place's sake. */
export const leavesWhenReplaced = ({ leaving }: Pick<Replica, 'leaving'>): boolean =>
  leaving === 'DRAIN' || leaving === 'REQUEUE'

/** R15: the host away from which a user moves the replica, while it holds it; null where there is none. */
export const hostLeftBy = (replica: Pick<Replica, 'state' | 'hostId' | 'leaving'>): HostId | null =>
  replica.leaving === 'REQUEUE' ? hostHeldBy(replica) : null

/** A replica is outdated when its content differs from the target's or when it is leaving (src/rules/README.md, "Terms of the formulas"). */
export const isOutdated = (replica: Pick<Replica, 'contentNumber' | 'leaving'>, targetContent: number): boolean =>
  replica.contentNumber !== targetContent || replica.leaving !== null
