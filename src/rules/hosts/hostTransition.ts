import type { HostScheduling, Reachability } from '../../generated/prisma/enums.ts'
import type { Refusal } from '../../model/refusal.ts'
import { drainedReason, type HostState, hostStateOf, reasonOf, type WorkerState } from './hostState.ts'

/** A host as it is when a change of it is decided (R15). */
export interface HostNow {
  readonly name: string
  readonly scheduling: HostScheduling
  readonly reachability: Reachability
  readonly reason: string | null
  /** The host's workers in the order of their names. */
  readonly workers: readonly WorkerNow[]
}

export interface WorkerNow extends WorkerState {
  readonly id: string
  /** The worker is UNREACHABLE and the brake keeps it from being LOST, or it is LOST by an operator's word. */
  readonly held: boolean
}

/** How many replicas have not ended on the host, and on the worker that is to be removed. */
export interface ReplicasLeft {
  readonly onHost: number
  readonly onWorker: number
}

export type HostDecision =
  /** The host is like that already, or the change no longer applies. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | {
      readonly kind: 'changed'
      readonly next: HostTransition
      /** The sentence of the event. */
      readonly message: string
      /** The actor of the event; null means the worker that says it. */
      readonly actor: string | null
    }

/** A host after the change. */
export interface HostTransition extends HostState {
  readonly scheduling: HostScheduling
  readonly reason: string | null
  readonly removes: boolean
  readonly wakesPlacement: boolean
  /** The workers that the change is about, in the order of their names. */
  readonly workers: readonly WorkerTransition[]
}

export interface WorkerTransition extends Pick<WorkerNow, 'id' | 'reachability' | 'reason' | 'held' | 'draining'> {
  /** The worker's epoch is raised, so whatever it says under the old one is FENCED. */
  readonly fences: boolean
  /** The worker runs nothing, so its host gets back the ports that were kept for it. */
  readonly clean: boolean
  readonly removes: boolean
}

/**
 * What is decided on a host. The rest follows from it: its reachability and room, which are its workers', and the
 * reason for its state.
 */
export interface HostStep {
  readonly message: string
  readonly actor: string | null
  /** The changed workers by id. Fields left out keep their value; `held` is cleared when the worker is REACHABLE. */
  readonly workers?: ReadonlyMap<string, WorkerStep>
  readonly scheduling?: HostScheduling
  /** The reason of a host that cannot be reached; left out, it is that of its workers. */
  readonly reason?: string
  /**
   * An event or a reason may say that the host is drained, if it is; left out, only a host that was called drained
   * before stays so.
   */
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
