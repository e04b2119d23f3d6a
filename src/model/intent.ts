import type { Blocker } from './blocker.ts'
import type { Content, Overrides, OverridesChange, Template } from './content.ts'
import type { Grant } from './host.ts'
import type {
  HostId,
  ProfileRevisionId,
  ProjectId,
  QueueId,
  ReplicaId,
  Revision,
  RolloutId,
  ServiceId,
  WorkerId,
} from './id.ts'
import type { ReportedProbe } from './lastProbe.ts'
import type { MetadataChange } from './metadata.ts'
import type { HostView, Version } from './service.ts'
import type { OwnSettings, Settings, SettingsChange } from './settings.ts'

export type ReportedState = 'STARTING' | 'RUNNING' | 'ENDED'
export type ReportedEndReason = 'COMPLETED' | 'EXITED' | 'GAVE_UP' | 'START_FAILED' | 'PORT_TAKEN' | 'STOPPED'

/** What a worker reports of one replica: the observed state, never a goal. */
export interface ReplicaReport {
  readonly replica: ReplicaId
  /** Starts are numbered 1, 2, 3 … per replica; another start is not ready at first. */
  readonly start: number
  readonly state: ReportedState
  readonly ready: boolean
  /** Null: nothing is told of its probes, and what was told of this start stays true. */
  readonly probe: ReportedProbe | null
  readonly endReason: ReportedEndReason | null
  /** With the message how its process ended last: in this start where the state is ENDED, otherwise in the one before. */
  readonly exitCode: number | null
  readonly exitSignal: string | null
  readonly message: string | null
  /** The ports of the placement that the report is about. */
  readonly ports: readonly number[]
  /** With PORT_TAKEN: the names of those of its ports that something else uses. */
  readonly takenPorts: readonly string[]
}

/** Who reports. The commit refuses the service's change (FENCED) if the database has another epoch for the worker. */
export interface Reporter {
  readonly workerId: WorkerId
  readonly hostId: HostId
  readonly epoch: number
}

/** A user's wish for a service as it was at `expectedRevision` (R17); null means as it is now. */
interface UserIntent {
  readonly expectedRevision: Revision | null
  readonly actor: string
  readonly why?: string | null
}

/** A revision of a profile, already looked up: revisions never change. */
export interface ProfileRevisionView {
  readonly id: ProfileRevisionId
  readonly content: Content
  readonly settings: Settings
}

/** The user wants another target, other settings or another number of replicas. Fields left out keep their value. */
export interface UpdateIntent extends UserIntent {
  readonly kind: 'update'
  /** A revision of the service's profile; null keeps the current one. */
  readonly profile: ProfileRevisionView | null
  readonly overrides: OverridesChange
  /** The scale comes before the update (R4); null keeps the number. */
  readonly replicas: number | null
  /** What is noted about it from now on. */
  readonly metadata: MetadataChange
  /** The queue that it moves to; null keeps the present one. */
  readonly queue: { readonly id: QueueId; readonly name: string } | null
  /** Settings that the service has of its own from now on. */
  readonly settings: SettingsChange
  /** A rollout that the update begins is paused from its first commit on (R7). */
  readonly startPaused: boolean
  /** The id of the rollout if the update begins one. The caller chooses it, so that the answer can name it. */
  readonly rolloutId: RolloutId
}

/** The user wants a new version number for the same content, and all current replicas leave (R5). */
export interface RestartIntent extends UserIntent {
  readonly kind: 'restart'
  readonly rolloutId: RolloutId
}

/**
 * The user wants to go back to a version of the service, already looked up (versions never change); null means the one
 * that R6 chooses.
 */
export interface RollbackIntent extends UserIntent {
  readonly kind: 'rollback'
  readonly to: Version | null
  readonly rolloutId: RolloutId
}

/** The user pauses or resumes the service's rollout (R7). */
export interface PauseIntent extends UserIntent {
  readonly kind: 'pause' | 'resume'
}

/** A worker reports, as of `sequence` within its epoch. */
export interface ReportIntent {
  readonly kind: 'report'
  readonly reporter: Reporter
  readonly sequence: number
  readonly reports: readonly ReplicaReport[]
  /**
   * True: the reports name everything that runs there, because the server asked for it (RESYNC). Addresses return with
   * it, and what is missing is HOST_LOST (R15). The commit refuses the service's change if the worker is not REACHABLE.
   */
  readonly full?: boolean
}

/**
 * The state of a worker that has replicas of the service has changed (R15). The commit refuses the service's change if
 * the worker is no longer in that state: UNREACHABLE for `unreach`, LOST for `lose`, being drained (itself or its host)
 * for `drain`, not being drained for `undrain`.
 */
export interface WorkerIntent {
  readonly kind: 'unreach' | 'lose' | 'drain' | 'undrain'
  readonly worker: WorkerId
}

/**
 * The host of the service's replicas on this worker has other addresses than the service's rows say (R12). The commit
 * refuses the service's change if the host's addresses have changed again.
 */
export interface HostAddressesIntent {
  readonly kind: 'hostAddresses'
  readonly worker: WorkerId
  readonly host: HostView
}

/** Every write to a service is an intent: a mutation, a worker's report, a timer, a grant. */
export type ServiceIntent =
  | {
      readonly kind: 'scale'
      readonly replicas: number
      readonly expectedRevision: Revision | null
      readonly actor: string
      readonly why?: string | null
    }
  | UpdateIntent
  | RestartIntent
  | RollbackIntent
  | PauseIntent
  | {
      readonly kind: 'delete'
      readonly expectedRevision: Revision | null
      readonly actor: string
      readonly why?: string | null
    }
  | { readonly kind: 'resetBackoff'; readonly actor: string; readonly why?: string | null }
  | { readonly kind: 'kill'; readonly replica: ReplicaId; readonly actor: string; readonly why?: string | null }
  /** The user wants the replica on another host (R15). */
  | { readonly kind: 'requeue'; readonly replica: ReplicaId; readonly actor: string; readonly why?: string | null }
  | ReportIntent
  /**
   * A worker has registered: its host as it is now and what it still runs, and so what it no longer has (R15: that ends
   * HOST_LOST, which is no failure).
   */
  | {
      readonly kind: 'adopt'
      readonly reporter: Reporter
      readonly host: HostView
      readonly running: readonly ReplicaReport[]
    }
  | { readonly kind: 'grant'; readonly grants: readonly Grant[] }
  | WorkerIntent
  | HostAddressesIntent
  /** Placement could not place these replicas, for these reasons. */
  | {
      readonly kind: 'setBlockers'
      readonly blockers: readonly { readonly replica: ReplicaId; readonly blocker: Blocker }[]
    }
  /** Timers are due, or the server starts: whatever is due happens. */
  | { readonly kind: 'tick' }

/**
 * A service to be created, with everything looked up and merged. The caller chooses the ids, so that the answer can
 * name them.
 */
export interface NewService {
  readonly id: ServiceId
  readonly projectId: ProjectId
  readonly projectName: string
  readonly queueId: QueueId
  readonly name: string
  readonly owner: string
  /** Why its creator wants it, in their words. */
  readonly why?: string | null
  readonly profileRevisionId: ProfileRevisionId
  readonly content: Content
  readonly overrides: Overrides
  readonly template: Template
  readonly ownSettings: OwnSettings
  readonly metadata?: MetadataChange
  readonly replicas: number
}
