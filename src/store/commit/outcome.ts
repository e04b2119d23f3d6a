import type { Content, GivenVariable } from '../../model/content.ts'
import type { HostChangeOf } from '../../model/hostChange.ts'
import type { HostId, Instant, ProfileId, ProfileRevisionId, ProjectId, QueueId, WorkerId } from '../../model/id.ts'
import type { MetadataChange } from '../../model/metadata.ts'
import type { Outcome } from '../../model/outcome.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { Settings } from '../../model/settings.ts'
import type { PortOfHost } from '../../model/watchedPort.ts'
import type { RegisteringWorker } from '../../model/workerOffer.ts'
import type { ProfileChange } from '../../rules/service/changedProfile.ts'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/**
 * What to keep of a write under its caller's idempotencyKey (R17). It is kept in the same commit, and only when the
 * write was done.
 */
export interface Remember {
  readonly subject: string
  readonly operation: string
  readonly key: string
  readonly inputHash: string
  /** Ids of the objects to read again. A cluster write keeps its outcome itself instead. */
  readonly result: Json
}

/** The same key and input was done before; `result` is what was kept then. */
export interface Remembered {
  readonly kind: 'remembered'
  readonly result: Json
}

/** The outcome of a write to a service. */
export type StoreOutcome = Outcome | Remembered

/** The content of a profile as a user gives it. A secret without a value keeps that of the newest revision. */
export type GivenContent = Omit<Content, 'env'> & { readonly env: readonly GivenVariable[] }

/** A write that is not about a service. */
export type ClusterChange =
  /** It makes a new revision when content or settings differ from the newest one. */
  | {
      readonly kind: 'applyProfile'
      readonly name: string
      readonly content: GivenContent
      readonly settings: Settings
      /** What is noted about it from now on; what is left out stays as it is. */
      readonly metadata?: MetadataChange
      /** Whether it may drop ports and probes although services use the profile. */
      readonly allowDropping: boolean
      readonly actor: string
      readonly why?: string | null
    }
  /** The same with a part of the newest revision changed, which has this number unless it is null. */
  | {
      readonly kind: 'updateProfile'
      readonly name: string
      readonly change: ProfileChange
      readonly metadata: MetadataChange
      readonly expectedRevision: number | null
      readonly allowDropping: boolean
      readonly actor: string
      readonly why?: string | null
    }
  | {
      readonly kind: 'applyProject'
      readonly name: string
      readonly maxReplicas: number | null
      readonly actor: string
      readonly why?: string | null
    }
  | {
      readonly kind: 'applyQueue'
      readonly name: string
      readonly priority: number
      readonly actor: string
      readonly why?: string | null
    }
  /** It is refused while a service uses it. */
  | {
      readonly kind: 'deleteProfile' | 'deleteProject' | 'deleteQueue'
      readonly name: string
      readonly actor: string
      readonly why?: string | null
    }
  | RegisterWorker
  | EndQuarantine
  | HostWrite

/**
 * What becomes of a host and its workers (R15), with the state that it rests on. Each of them raises the host's
 * allocation, so that grants that were decided before are refused.
 */
export type HostWrite =
  | JudgeWorker
  | (HostChangeOf<'returnWorker' | 'drainWorker' | 'endWorker' | 'leaveHost'> & OfEpoch)
  | (HostChangeOf<'hostDrained' | 'freePorts'> & OfHost)
  /** Names the host. */
  | (HostChangeOf<'scheduleHost' | 'confirmHostLoss' | 'removeHost' | 'removeWorker'> & {
      readonly why?: string | null
    })

interface OfHost {
  readonly hostId: HostId
}

/** The epoch of the worker. Nothing is changed when the worker has a newer one. */
interface OfEpoch extends OfHost {
  readonly epoch: number
}

/** Nothing is changed when the lease was renewed since, or when the judging server is late itself. */
export type JudgeWorker = HostChangeOf<'judgeWorker'> &
  OfHost & {
    /** The end of the lease as it was judged. */
    readonly leaseUntil: Instant
    readonly serverId: string
    /** The server's heartbeat must be later than this. */
    readonly heartbeatSeconds: number
  }

/**
 * A worker starts or restarts. Its epoch and its host's allocation are raised, and its lease starts. The replicas that
 * it runs are adopted service by service (R15).
 */
export interface RegisterWorker extends RegisteringWorker {
  readonly kind: 'registerWorker'
  /** The subject of the token that registers it. */
  readonly subject: string
  /**
   * Whether it runs nothing, so that a LOST worker may come back. It is false when replicas that it runs were replaced
   * while it was LOST or unknown.
   */
  readonly clean: boolean
  /** Whether it may take over a worker that another subject's token registered. */
  readonly asAdmin: boolean
  /** The length of its lease in seconds (R15). */
  readonly leaseSeconds: number
  /** How long after that a silent worker keeps its name. */
  readonly graceSeconds: number
}

/** A worker of the host has seen that these ports are free again (R13). Those that are not in quarantine are ignored. */
export interface EndQuarantine {
  readonly kind: 'endQuarantine'
  readonly hostId: HostId
  readonly ports: readonly PortOfHost[]
  readonly actor: string
}

export type ClusterOutcome =
  /** `created` says that a new revision was made; otherwise the newest one had the same content already. */
  | {
      readonly kind: 'profile'
      readonly profileId: ProfileId
      readonly profileRevisionId: ProfileRevisionId
      readonly created: boolean
    }
  | { readonly kind: 'project'; readonly projectId: ProjectId; readonly changed: boolean }
  | { readonly kind: 'queue'; readonly queueId: QueueId; readonly changed: boolean }
  /** A profile, project or queue was deleted. */
  | { readonly kind: 'removed'; readonly id: string }
  /** `returned` is false when the worker is still LOST, because it runs something that has been replaced. */
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
