import type { HostScheduling } from '../generated/prisma/enums.ts'
import type { WorkerId } from './id.ts'

/** Every change that can happen to a host and its workers (R15). */
export type HostChange =
  /**
   * The rules judge a silent worker. HELD means that only the brake keeps it from being LOST. `reason` is kept with the
   * worker; `message` is the event.
   */
  | {
      readonly kind: 'judgeWorker'
      readonly workerId: WorkerId
      readonly to: 'UNREACHABLE' | 'LOST' | 'HELD'
      readonly reason: string
      readonly message: string
    }
  /**
   * The worker has reported everything, so it is REACHABLE. If it was LOST, it runs nothing any more, and its host has
   * its ports back.
   */
  | { readonly kind: 'returnWorker'; readonly workerId: WorkerId }
  /** The worker is to end: it takes no new replicas, and those it has are to leave. */
  | { readonly kind: 'drainWorker'; readonly workerId: WorkerId; readonly actor: string }
  /** The worker ends and runs nothing any more, by its own word, so nobody has to wait for its lease and grace. */
  | { readonly kind: 'endWorker'; readonly workerId: WorkerId }
  /** The worker has started again on the host `to`, so by its own word it is LOST here. */
  | { readonly kind: 'leaveHost'; readonly workerId: WorkerId; readonly to: string }
  /** An operator sets the host's scheduling. NO_CHANGE if it is that already. OPEN also ends the drains of workers. */
  | {
      readonly kind: 'scheduleHost'
      readonly name: string
      readonly scheduling: HostScheduling
      readonly actor: string
    }
  /**
   * The host's last replica may have left. It changes nothing unless the host is being drained, REACHABLE and empty,
   * and no event has said so yet.
   */
  | { readonly kind: 'hostDrained' }
  /** An operator confirms that the UNREACHABLE workers of a host are gone. INVALID_STATE if it has none. */
  | { readonly kind: 'confirmHostLoss'; readonly name: string; readonly actor: string }
  /** An operator removes a host. INVALID_STATE while it is reachable or has replicas. */
  | { readonly kind: 'removeHost'; readonly name: string; readonly actor: string }
  /**
   * An operator removes a LOST worker by its name, and its host has its ports back. INVALID_STATE for any other worker.
   */
  | { readonly kind: 'removeWorker'; readonly name: string; readonly actor: string }
  /** The host frees ports that it keeps for workers which are not LOST any more, wherever those are now. */
  | { readonly kind: 'freePorts' }

export type HostChangeOf<Kind extends HostChange['kind']> = Extract<HostChange, { readonly kind: Kind }>
