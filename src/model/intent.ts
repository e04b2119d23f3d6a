import type { Blocker } from './blocker.ts'
import type { Content, Overrides, Template } from './content.ts'
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
import type { HostView, Version } from './service.ts'
import type { RolloutSettings, Settings } from './settings.ts'

export type ReportedState = 'STARTING' | 'RUNNING' | 'ENDED'
export type ReportedEndReason = 'EXITED' | 'GAVE_UP' | 'START_FAILED' | 'PORT_TAKEN' | 'STOPPED'

/** What a worker says of one replica: the observed state, never a goal. */
export interface ReplicaReport {
  readonly replica: ReplicaId
  /** 1, 2, 3 … per replica; another start is not ready first. */
  readonly start: number
  readonly state: ReportedState
  readonly ready: boolean
  readonly endReason: ReportedEndReason | null
  readonly exitCode: number | null
  readonly exitSignal: string | null
  readonly message: string | null
  /** Of the placement that it is about; left out or null: of whichever the replica has. */
  readonly ports?: readonly number[] | null
}

/** Who reports. The commit refuses the service's change (FENCED) where the worker's epoch in the database is another. */
export interface Reporter {
  readonly workerId: WorkerId
  readonly hostId: HostId
  readonly epoch: number
}

/** What a user wants of a service as it is at `expectedRevision` (R17); null: as it is. */
interface UserIntent {
  readonly expectedRevision: Revision | null
  readonly actor: string
}

/** A revision of a profile, looked up: revisions never change. */
export interface ProfileRevisionView {
  readonly id: ProfileRevisionId
  readonly content: Content
  readonly settings: Settings
}

/** Another target, or other settings or replicas. What is left out stays as it is. */
export interface UpdateIntent extends UserIntent {
  readonly kind: 'update'
  /** Of the service's profile; null: the one it has. */
  readonly profile: ProfileRevisionView | null
  /** `command` null: the profile's; `env` replaces the service's own list. */
  readonly overrides: Partial<Overrides>
  /** Scaled first (R4); null: as many as now. */
  readonly replicas: number | null
  /** Over the profile's settings, until the next update. */
  readonly rollout: Partial<RolloutSettings>
  /** A rollout that this begins is paused from its first commit on (R7). */
  readonly startPaused: boolean
  /** The id of the rollout, if this begins one: the caller's, so that the answer can name it. */
  readonly rolloutId: RolloutId
}

/** A new number for the same content; all current replicas leave (R5). */
export interface RestartIntent extends UserIntent {
  readonly kind: 'restart'
  readonly rolloutId: RolloutId
}

/** Back to a version of the service, looked up (versions never change); null: to the one that R6 chooses. */
export interface RollbackIntent extends UserIntent {
  readonly kind: 'rollback'
  readonly to: Version | null
  readonly rolloutId: RolloutId
}

/** R7. */
export interface PauseIntent extends UserIntent {
  readonly kind: 'pause' | 'resume'
}

/** What a worker reports, as of `sequence` within its epoch. */
export interface ReportIntent {
  readonly kind: 'report'
  readonly reporter: Reporter
  readonly sequence: number
  readonly reports: readonly ReplicaReport[]
  /**
   * Everything that runs there, said when the server asked for it (RESYNC): addresses return with it, and what is missing is HOST_LOST (R15).
   * The commit refuses the service's change where the worker is not REACHABLE.
   */
  readonly full?: boolean
}

/**
 * What became of a worker that has replicas of the service (R15). The commit refuses the service's change where the worker is no longer so:
 * UNREACHABLE for `unreach`, LOST for `lose`, being drained (itself or its host) for `drain`, not so for `undrain`.
 */
export interface WorkerIntent {
  readonly kind: 'unreach' | 'lose' | 'drain' | 'undrain'
  readonly worker: WorkerId
}

/**
 * The host of replicas that the service has on this worker has other addresses now than the service has told (R12). The commit refuses the
 * service's change where the host's are others again.
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
    }
  | UpdateIntent
  | RestartIntent
  | RollbackIntent
  | PauseIntent
  | { readonly kind: 'delete'; readonly expectedRevision: Revision | null; readonly actor: string }
  | { readonly kind: 'resetBackoff'; readonly actor: string }
  | { readonly kind: 'kill'; readonly replica: ReplicaId; readonly actor: string }
  | ReportIntent
  /** A registration: the worker's host as it is now, what it still runs, and so what it no longer has (R15: ends HOST_LOST, no failure). */
  | {
      readonly kind: 'adopt'
      readonly reporter: Reporter
      readonly host: HostView
      readonly running: readonly ReplicaReport[]
    }
  | { readonly kind: 'grant'; readonly grants: readonly Grant[] }
  | WorkerIntent
  | HostAddressesIntent
  /** Why placement could not place these. */
  | {
      readonly kind: 'setBlockers'
      readonly blockers: readonly { readonly replica: ReplicaId; readonly blocker: Blocker }[]
    }
  /** Timers are due, or the server starts: whatever is due happens. */
  | { readonly kind: 'tick' }

/** A service to be: everything looked up and merged already. Ids are the caller's, so that the answer can name them. */
export interface NewService {
  readonly id: ServiceId
  readonly projectId: ProjectId
  readonly projectName: string
  readonly queueId: QueueId
  readonly name: string
  readonly owner: string
  readonly profileRevisionId: ProfileRevisionId
  readonly content: Content
  readonly overrides: Overrides
  readonly template: Template
  readonly settings: Settings
  readonly replicas: number
}
