import type { HostScheduling, Reachability } from '../../generated/prisma/enums.ts'
import type { Refusal } from '../../model/refusal.ts'
import { drainedReason, type HostState, hostStateOf, reasonOf, type WorkerState } from './hostState.ts'

/** A host as it is, for a decision on it (R15). */
export interface HostNow {
  readonly name: string
  readonly scheduling: HostScheduling
  readonly reachability: Reachability
  readonly reason: string | null
  /** By name. */
  readonly workers: readonly WorkerNow[]
}

export interface WorkerNow extends WorkerState {
  readonly id: string
  /** UNREACHABLE, and kept from being LOST by the brake; or LOST by an operator's word. */
  readonly held: boolean
}

/** Replicas that have not ended: on the host, and on the worker that is to be removed. */
export interface ReplicasLeft {
  readonly onHost: number
  readonly onWorker: number
}

export type HostDecision =
  /** It is so already, or does not apply any more. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | {
      readonly kind: 'changed'
      readonly next: HostTransition
      /** The event. */
      readonly message: string
      /** Null: the worker that says it. */
      readonly actor: string | null
    }

/** A host as it becomes. */
export interface HostTransition extends HostState {
  readonly scheduling: HostScheduling
  readonly reason: string | null
  readonly removes: boolean
  readonly wakesPlacement: boolean
  /** Those that the change is about, by name. */
  readonly workers: readonly WorkerTransition[]
}

export interface WorkerTransition extends Pick<WorkerNow, 'id' | 'reachability' | 'reason' | 'held' | 'draining'> {
  /** Its epoch is raised: what it says under the old one is FENCED. */
  readonly fences: boolean
  /** It runs nothing: its host has the ports back that were kept for it. */
  readonly clean: boolean
  readonly removes: boolean
}

/** What is decided on a host. What follows from it is left out: its reachability and room, which are its workers', and why it is as it is. */
export interface HostStep {
  readonly message: string
  readonly actor: string | null
  /** By id. What is left out of one stays, but that it is held: only until it is REACHABLE. */
  readonly workers?: ReadonlyMap<string, WorkerStep>
  readonly scheduling?: HostScheduling
  /** Of one that can't be reached; left out: that of its workers. */
  readonly reason?: string
  /** Said that it is drained, where it is; left out: only if that was said before. */
  readonly mayBeDrained?: boolean
  readonly removes?: boolean
  readonly wakesPlacement?: boolean
}

type WorkerStep = Partial<Omit<WorkerTransition, 'id'>>

export const unchanged: HostDecision = { kind: 'unchanged' }

export function becomes(host: HostNow, left: ReplicasLeft, step: HostStep): HostDecision {
  const { message, actor, removes = false, wakesPlacement = false, scheduling = host.scheduling } = step
  const about = step.workers ?? new Map<string, WorkerStep>()
  const workers = host.workers.map((worker) => ({
    fences: false,
    clean: false,
    removes: false,
    ...worker,
    ...about.get(worker.id),
  }))
  const staying = workers.filter((worker) => !worker.removes)
  const mayBeDrained = step.mayBeDrained === true || host.reason === drainedReason
  const isDrained = scheduling === 'DRAINING' && mayBeDrained && left.onHost === 0
  const next = {
    ...hostStateOf(staying),
    scheduling,
    reason: step.reason ?? reasonOf(scheduling, isDrained, staying),
    removes,
    wakesPlacement,
    workers: workers.filter(({ id }) => about.has(id)).map(nextOf),
  }
  return { kind: 'changed', next, message, actor }
}

function nextOf({
  id,
  reachability,
  reason,
  held,
  draining,
  fences,
  clean,
  removes,
}: WorkerTransition): WorkerTransition {
  return { id, reachability, reason, held: held && reachability !== 'REACHABLE', draining, fences, clean, removes }
}
