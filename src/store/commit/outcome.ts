import type { HostScheduling } from '../../generated/prisma/enums.ts'
import type { Content } from '../../model/content.ts'
import type { HostId, Instant, ProfileId, ProfileRevisionId, ProjectId, QueueId, WorkerId } from '../../model/id.ts'
import type { Outcome } from '../../model/outcome.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { Settings } from '../../model/settings.ts'
import type { RegisteringWorker } from '../../model/workerOffer.ts'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** What to keep of a write under its caller's idempotencyKey (R17): only when it was done, in the same commit. */
export interface Remember {
  readonly subject: string
  readonly operation: string
  readonly key: string
  readonly inputHash: string
  /** Ids of the objects to read again. Of catalogue writes the outcome itself is kept instead. */
  readonly result: Json
}

/** The same key and input was done before; `result` is what was kept then. */
export interface Remembered {
  readonly kind: 'remembered'
  readonly result: Json
}

/** What became of a write to a service. */
export type StoreOutcome = Outcome | Remembered

/** A write that is about no service. */
export type CatalogueChange =
  /** A new revision where content or settings differ from the newest one. */
  | { readonly kind: 'applyProfile'; readonly name: string; readonly content: Content; readonly settings: Settings; readonly actor: string }
  | { readonly kind: 'applyProject'; readonly name: string; readonly maxReplicas: number | null; readonly actor: string }
  | { readonly kind: 'applyQueue'; readonly name: string; readonly priority: number; readonly actor: string }
  | RegisterWorker
  | HostChange

/** What becomes of a host and its workers (R15). Each raises the host's allocation, so that grants which were decided before are refused. */
export type HostChange =
  | JudgeWorker
  /** The worker has told everything, within this epoch: REACHABLE. Of a LOST one: it runs nothing any more, so that its host has its ports back. */
  | ({ readonly kind: 'returnWorker' } & Registration)
  /** The worker is to end: it takes no new replicas, and those it has are to leave. */
  | ({ readonly kind: 'drainWorker'; readonly actor: string } & Registration)
  /** The worker has started again on another host: here it is LOST, by its own word. */
  | ({ readonly kind: 'leaveHost'; readonly to: string } & Registration)
  /** What operators want; by name. NO_CHANGE where they want it already. OPEN also ends the drains of workers. */
  | { readonly kind: 'scheduleHost'; readonly name: string; readonly scheduling: HostScheduling; readonly actor: string }
  /** Its last replica may have left. Nothing is changed unless it is being drained, REACHABLE and empty, and that was not said yet. */
  | { readonly kind: 'hostDrained'; readonly hostId: HostId }
  /** An operator's word that the UNREACHABLE workers of a host are gone; by the host's name. INVALID_STATE where it has none. */
  | { readonly kind: 'confirmHostLoss'; readonly name: string; readonly actor: string }
  /** By name. INVALID_STATE while it is reachable or has replicas. */
  | { readonly kind: 'removeHost'; readonly name: string; readonly actor: string }
  /** A LOST worker is forgotten, and its host has its ports back; by name. INVALID_STATE for any other. */
  | { readonly kind: 'removeWorker'; readonly name: string; readonly actor: string }
  /** Ports may be kept there for workers that are not LOST any more, wherever they are now. Nothing is changed unless there are some. */
  | { readonly kind: 'freePorts'; readonly hostId: HostId }

/** A worker on its host, in its newest epoch: nothing is changed where it has another by now. */
interface Registration {
  readonly hostId: HostId
  readonly workerId: WorkerId
  readonly epoch: number
}

/** The rules' word on a silent worker. Nothing is changed where its lease was renewed since, or where the server that judges is late itself. */
export interface JudgeWorker {
  readonly kind: 'judgeWorker'
  readonly hostId: HostId
  readonly workerId: WorkerId
  /** HELD: it would be LOST, but for the brake. */
  readonly to: 'UNREACHABLE' | 'LOST' | 'HELD'
  /** As it was judged. */
  readonly leaseUntil: Instant
  readonly serverId: string
  /** The server's heartbeat must be younger. */
  readonly heartbeatSeconds: number
  readonly reason: string
  readonly message: string
}

/** A worker (re)starts: its epoch and its host's allocation are raised, its lease starts. What it runs is adopted service by service (R15). */
export interface RegisterWorker extends RegisteringWorker {
  readonly kind: 'registerWorker'
  /** Of the token that registers it. */
  readonly subject: string
  /** It runs nothing: a LOST one may come back. False: what it runs was replaced, where it was LOST or is not known any more. */
  readonly clean?: boolean
  /** It may be a worker that another subject's token registered. */
  readonly asAdmin?: boolean
  /** How long its lease is; left out: the default (R15). */
  readonly leaseSeconds?: number
}

export type CatalogueOutcome =
  /** `created`: a new revision was made; otherwise the newest one says the same already. */
  | { readonly kind: 'profile'; readonly profileId: ProfileId; readonly profileRevisionId: ProfileRevisionId; readonly created: boolean }
  | { readonly kind: 'project'; readonly projectId: ProjectId; readonly changed: boolean }
  | { readonly kind: 'queue'; readonly queueId: QueueId; readonly changed: boolean }
  /** `returned` false: it is LOST still, for it runs something that has been replaced. */
  | {
      readonly kind: 'worker'
      readonly workerId: WorkerId
      readonly hostId: HostId
      readonly epoch: number
      readonly returned: boolean
    }
  | { readonly kind: 'host'; readonly hostId: HostId; readonly changed: boolean }
  /** `result` is the earlier one of these. */
  | Remembered
  | { readonly kind: 'refused'; readonly refusal: Refusal }
