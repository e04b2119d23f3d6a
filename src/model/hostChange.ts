import type { HostScheduling } from '../generated/prisma/enums.ts'
import type { WorkerId } from './id.ts'

/** What may become of a host and its workers (R15). */
export type HostChange =
  /** The rules' word on a silent worker. HELD: it would be LOST, but for the brake. `reason` is kept with the worker, `message` is the event. */
  | {
      readonly kind: 'judgeWorker'
      readonly workerId: WorkerId
      readonly to: 'UNREACHABLE' | 'LOST' | 'HELD'
      readonly reason: string
      readonly message: string
    }
  /** The worker has told everything: REACHABLE. Of a LOST one: it runs nothing any more, so that its host has its ports back. */
  | { readonly kind: 'returnWorker'; readonly workerId: WorkerId }
  /** The worker is to end: it takes no new replicas, and those it has are to leave. */
  | { readonly kind: 'drainWorker'; readonly workerId: WorkerId; readonly actor: string }
  /** The worker has started again on another host, `to`: here it is LOST, by its own word. */
  | { readonly kind: 'leaveHost'; readonly workerId: WorkerId; readonly to: string }
  /** What operators want. NO_CHANGE where they want it already. OPEN also ends the drains of workers. */
  | {
      readonly kind: 'scheduleHost'
      readonly name: string
      readonly scheduling: HostScheduling
      readonly actor: string
    }
  /** Its last replica may have left. Nothing is changed unless it is being drained, REACHABLE and empty, and that was not said yet. */
  | { readonly kind: 'hostDrained' }
  /** An operator's word that the UNREACHABLE workers of a host are gone. INVALID_STATE where it has none. */
  | { readonly kind: 'confirmHostLoss'; readonly name: string; readonly actor: string }
  /** INVALID_STATE while it is reachable or has replicas. */
  | { readonly kind: 'removeHost'; readonly name: string; readonly actor: string }
  /** A LOST worker, by its name, is forgotten, and its host has its ports back. INVALID_STATE for any other. */
  | { readonly kind: 'removeWorker'; readonly name: string; readonly actor: string }
  /** Ports that are kept there for workers which are not LOST any more, wherever they are now, are free. */
  | { readonly kind: 'freePorts' }

export type HostChangeOf<Kind extends HostChange['kind']> = Extract<HostChange, { readonly kind: Kind }>
