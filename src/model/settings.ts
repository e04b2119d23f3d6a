import type { SpreadMode } from '../generated/prisma/enums.ts'

/** A count or a percentage of the desired replicas. */
export type Limit = { readonly count: number } | { readonly percent: number }

/** How rollouts move. */
export type RolloutSettings = Pick<
  Settings,
  'maxSurge' | 'maxUnavailable' | 'minReadySeconds' | 'progressDeadlineSeconds' | 'autoRollback' | 'watchSeconds'
>

/** The settings that a service has of its own, in place of its profile's. */
export type OwnSettings = Partial<Omit<Settings, 'replicas'>>

/** A change of a service's own settings. Those left out stay as they are, and null goes back to the profile's. */
export type SettingsChange = { readonly [Key in keyof OwnSettings]?: OwnSettings[Key] | null }

/** How a service is kept, as opposed to what its replicas run (`Content`). */
export interface Settings {
  /** How many replicas a service has that is created without a number. */
  readonly replicas: number
  readonly spreadMode: SpreadMode
  /** How many alive replicas of the service a host may have under STRICT; the other modes pay no regard to it (R14). */
  readonly maxPerHost: number
  readonly maxSurge: Limit
  readonly maxUnavailable: Limit
  readonly minReadySeconds: number
  readonly progressDeadlineSeconds: number
  readonly autoRollback: boolean
  /** How long a completed rollout may still be rolled back automatically (R6). */
  readonly watchSeconds: number
  readonly backoffBaseSeconds: number
  readonly backoffMaxSeconds: number
  readonly backoffResetAfterSeconds: number
}
