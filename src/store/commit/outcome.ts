import type { Content } from '../../model/content.ts'
import type { HostId, ProfileId, ProfileRevisionId, ProjectId, QueueId, WorkerId } from '../../model/id.ts'
import type { Outcome } from '../../model/outcome.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { Settings } from '../../model/settings.ts'

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

/** A worker (re)starts: its epoch and its host's allocation are raised, its lease starts. What it runs is adopted service by service (R15). */
export interface RegisterWorker {
  readonly kind: 'registerWorker'
  readonly name: string
  readonly host: string
  readonly addresses: readonly string[]
  readonly cpuMillis: number
  readonly memoryMiB: number
  readonly portRange: { readonly from: number; readonly to: number }
  readonly reservedPorts: readonly number[]
  readonly softwareVersion: string
  readonly protocolVersion: number
  /** Of the token that registers it. */
  readonly subject: string
  /** How long its lease is; left out: the default (R15). */
  readonly leaseSeconds?: number
}

export type CatalogueOutcome =
  /** `created`: a new revision was made; otherwise the newest one says the same already. */
  | { readonly kind: 'profile'; readonly profileId: ProfileId; readonly profileRevisionId: ProfileRevisionId; readonly created: boolean }
  | { readonly kind: 'project'; readonly projectId: ProjectId; readonly changed: boolean }
  | { readonly kind: 'queue'; readonly queueId: QueueId; readonly changed: boolean }
  | { readonly kind: 'worker'; readonly workerId: WorkerId; readonly hostId: HostId; readonly epoch: number }
  /** `result` is the earlier one of these. */
  | Remembered
  | { readonly kind: 'refused'; readonly refusal: Refusal }
