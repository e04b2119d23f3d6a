import type { HostScheduling, RolloutState, ServiceStatus } from '../generated/prisma/enums.ts'
import type { Content } from '../model/content.ts'
import type { PlacementHost, PlacementProject, PlacementWorker } from '../model/host.ts'
import type { Instant } from '../model/id.ts'
import type { NewService, ServiceIntent } from '../model/intent.ts'
import type { RolloutSettings, Settings } from '../model/settings.ts'
import type { Behaviour } from './behaviour.ts'

/** Everything that a simulation consists of and that happens in it, checked and with its defaults filled in. */
export interface Scenario {
  readonly seed: number
  readonly endSeconds: number
  readonly leaseSeconds: number
  readonly graceSeconds: number
  readonly hosts: readonly ScenarioHost[]
  readonly projects: readonly Pick<PlacementProject, 'name' | 'maxReplicas'>[]
  readonly services: readonly ScenarioService[]
  /** The events in the order of their instants; at one instant, in the order of the file. */
  readonly events: readonly ScenarioEvent[]
  /** The expectations at the end. */
  readonly expected: readonly Expectation[]
}

/** A host with one worker, which offers all of it. */
export type ScenarioHost = Pick<PlacementHost, 'name' | 'addresses' | 'portFrom' | 'portTo' | 'reservedPorts'> &
  Pick<PlacementWorker, 'cpuMillis' | 'memoryMiB'>

/** Something that a service can run, as a revision of a profile would describe it, and how its processes behave. */
export interface Release {
  readonly name: string
  readonly content: Content
  readonly settings: Settings
  readonly behaviour: Behaviour
}

export interface ScenarioService {
  readonly name: string
  readonly project: string
  readonly queuePriority: number
  readonly atSeconds: number
  readonly replicas: number
  readonly releases: readonly Release[]
  /** The name of the first release. */
  readonly release: string
}

export interface ScenarioEvent {
  readonly atSeconds: number
  readonly action: Action
}

/** What users do, and what happens to replicas, hosts and projects. */
export type Action =
  | { readonly kind: 'scale'; readonly service: string; readonly replicas: number }
  | {
      readonly kind: 'update'
      readonly service: string
      /** The release to update to; null keeps the current one. */
      readonly release: string | null
      readonly replicas: number | null
      readonly rollout: Partial<RolloutSettings>
      readonly startPaused: boolean
    }
  | { readonly kind: 'rollback'; readonly service: string; readonly toVersion: number | null }
  | { readonly kind: 'pause' | 'resume' | 'restart' | 'delete' | 'resetBackoff'; readonly service: string }
  | { readonly kind: 'kill'; readonly service: string; readonly index: number }
  | {
      readonly kind: 'fail'
      readonly service: string
      readonly how: 'crash' | 'unready' | 'ready'
      readonly which: Which
    }
  | {
      readonly kind: 'host'
      readonly hosts: readonly string[]
      readonly count: number | null
      readonly becomes: HostScheduling | HostEvent
    }
  | { readonly kind: 'quota'; readonly project: string; readonly maxReplicas: number | null }
  | { readonly kind: 'expect'; readonly expectation: Expectation }

/**
 * DOWN: the host dies with all that runs there. SILENT: nobody hears of it, and everything runs on. UP: it is back.
 * LOST: an operator says that it is gone.
 */
export type HostEvent = 'DOWN' | 'SILENT' | 'UP' | 'LOST'

/** Replicas of these indexes, or as many as `count`, chosen by chance. */
export type Which = { readonly indexes: readonly number[] } | { readonly count: number }

/** Something that must be true of a service. Fields left out may have any value. */
export interface Expectation {
  readonly service: string
  readonly status?: ServiceStatus
  readonly version?: number
  readonly release?: string
  readonly rollout?: RolloutState
  readonly blocker?: string
  readonly active?: number
  readonly available?: number
  /** At least this many were always available, counted from when all were for the first time. */
  readonly lowestAvailable?: number
  /** At most this many were ever active. */
  readonly highestActive?: number
}

/** A history of one service, commit by commit and exactly as the rules got it. Nothing else happens in it. */
export interface Replay {
  readonly service: NewService
  readonly startedAt: Instant
  readonly commits: readonly ReplayedCommit[]
}

export interface ReplayedCommit {
  readonly atMillis: Instant
  /** How many ids had been given before this commit. */
  readonly ids: number
  readonly intents: readonly ServiceIntent[]
}
