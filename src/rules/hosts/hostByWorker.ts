import { endedReason } from '../../model/endedReason.ts'
import type { HostChangeOf } from '../../model/hostChange.ts'
import {
  becomes,
  type HostDecision,
  type HostNow,
  type ReplicasLeft,
  unchanged,
  type WorkerNow,
} from './hostTransition.ts'

// R15: the changes that one of its workers causes to a host: by its silence, or by its own word.

/** The worker's lease or its grace is over, as judgeLeases found. */
export function judgeWorker(host: HostNow, change: HostChangeOf<'judgeWorker'>, left: ReplicasLeft): HostDecision {
  const { workerId, to, reason, message } = change
  const worker = workerOf(host, workerId)
  if (worker === undefined || worker.reachability === 'LOST') return unchanged
  const held = to === 'HELD'
  if (held ? worker.held : worker.reachability === to) return unchanged
  const reachability = held ? worker.reachability : to
  return becomes(host, left, {
    workers: new Map([[workerId, { reachability, reason, held, fences: to === 'LOST' }]]),
    message,
    actor: 'xce',
  })
}

export function returnWorker(
  host: HostNow,
  { workerId }: HostChangeOf<'returnWorker'>,
  left: ReplicasLeft,
): HostDecision {
  const worker = workerOf(host, workerId)
  if (worker === undefined || worker.reachability === 'REACHABLE') return unchanged
  const how = worker.reachability === 'LOST' ? 'and runs nothing that was replaced' : 'before it was lost'
  return becomes(host, left, {
    workers: new Map([[workerId, { reachability: 'REACHABLE', reason: null, clean: true }]]),
    mayBeDrained: true,
    wakesPlacement: true,
    message: `${subjectOf(host, worker)} is back, ${how}.`,
    actor: null,
  })
}

export function drainWorker(
  host: HostNow,
  { workerId, actor }: HostChangeOf<'drainWorker'>,
  left: ReplicasLeft,
): HostDecision {
  const worker = workerOf(host, workerId)
  if (worker === undefined || worker.draining) return unchanged
  const message = `Worker ${worker.name} on host ${host.name} is being drained because it is to end: its replicas are replaced elsewhere, within the limits of their services.`
  return becomes(host, left, { workers: new Map([[workerId, { draining: true }]]), message, actor })
}

export function endWorker(host: HostNow, { workerId }: HostChangeOf<'endWorker'>, left: ReplicasLeft): HostDecision {
  const worker = workerOf(host, workerId)
  if (worker === undefined || worker.reachability === 'LOST') return unchanged
  const message = `Worker ${worker.name} on host ${host.name} has ended: it ran nothing any more.`
  return becomes(host, left, {
    workers: new Map([
      [workerId, { reachability: 'LOST', reason: endedReason, held: false, fences: true, clean: true }],
    ]),
    message,
    actor: null,
  })
}

export function leaveHost(
  host: HostNow,
  { workerId, to }: HostChangeOf<'leaveHost'>,
  left: ReplicasLeft,
): HostDecision {
  const worker = workerOf(host, workerId)
  if (worker === undefined || worker.reachability === 'LOST') return unchanged
  const reason = `It has started again on host ${to}.`
  const message = `Worker ${worker.name} has left host ${host.name} for host ${to}: its replicas are replaced.`
  return becomes(host, left, {
    workers: new Map([[workerId, { reachability: 'LOST', reason, held: false, fences: true }]]),
    message,
    actor: null,
  })
}

function workerOf(host: HostNow, id: string): WorkerNow | undefined {
  return host.workers.find((worker) => worker.id === id)
}

/** Names the host, or its worker if the host is reachable by another one: "Host n1". */
function subjectOf(host: HostNow, worker: WorkerNow): string {
  return host.reachability === 'REACHABLE' ? `Worker ${worker.name} on host ${host.name}` : `Host ${host.name}`
}
