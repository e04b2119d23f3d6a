import type { Content } from '../../model/content.ts'
import type { HostChangeOf } from '../../model/hostChange.ts'
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
  /** Ids of the objects to read again. Of cluster writes the outcome itself is kept instead. */
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
export type ClusterChange =
  /** A new revision where content or settings differ from the newest one. */
  | {
      readonly kind: 'applyProfile'
      readonly name: string
      readonly content: Content
      readonly settings: Settings
      readonly actor: string
    }
  | {
      readonly kind: 'applyProject'
      readonly name: string
      readonly maxReplicas: number | null
      readonly actor: string
    }
  | { readonly kind: 'applyQueue'; readonly name: string; readonly priority: number; readonly actor: string }
  | RegisterWorker
  | HostWrite

/**
 * What becomes of a host and its workers (R15), with what it rests on. Each raises the host's allocation, so that grants which were decided before are
 * refused.
 */
export type HostWrite =
  | JudgeWorker
  | (HostChangeOf<'returnWorker' | 'drainWorker' | 'endWorker' | 'leaveHost'> & OfEpoch)
  | (HostChangeOf<'hostDrained' | 'freePorts'> & OfHost)
  /** By name. */
  | HostChangeOf<'scheduleHost' | 'confirmHostLoss' | 'removeHost' | 'removeWorker'>

interface OfHost {
  readonly hostId: HostId
}

/** Of a worker's newest epoch: nothing is changed where it has another by now. */
interface OfEpoch extends OfHost {
  readonly epoch: number
}

/** Nothing is changed where the lease was renewed since, or where the server that judges is late itself. */
export type JudgeWorker = HostChangeOf<'judgeWorker'> &
  OfHost & {
    /** As it was judged. */
    readonly leaseUntil: Instant
    readonly serverId: string
    /** The server's heartbeat must be younger. */
    readonly heartbeatSeconds: number
  }

/** A worker (re)starts: its epoch and its host's allocation are raised, its lease starts. What it runs is adopted service by service (R15). */
export interface RegisterWorker extends RegisteringWorker {
  readonly kind: 'registerWorker'
  /** Of the token that registers it. */
  readonly subject: string
  /** It runs nothing: a LOST one may come back. False: what it runs was replaced, where it was LOST or is not known any more. */
  readonly clean: boolean
  /** It may be a worker that another subject's token registered. */
  readonly asAdmin: boolean
  /** How long its lease is (R15). */
  readonly leaseSeconds: number
}

export type ClusterOutcome =
  /** `created`: a new revision was made; otherwise the newest one says the same already. */
  | {
      readonly kind: 'profile'
      readonly profileId: ProfileId
      readonly profileRevisionId: ProfileRevisionId
      readonly created: boolean
    }
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
