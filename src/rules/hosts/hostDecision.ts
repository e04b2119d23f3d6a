import type { HostChange } from '../../model/hostChange.ts'
import { confirmHostLoss, removeHost, removeWorker, scheduleHost } from './hostByOperator.ts'
import { drainWorker, endWorker, judgeWorker, leaveHost, returnWorker } from './hostByWorker.ts'
import { drainedMessage, drainedReason, portsBackMessage } from './hostState.ts'
import { becomes, type HostDecision, type HostNow, type ReplicasLeft, unchanged } from './hostTransition.ts'

/** R15: decides a change of a host and its workers. */
export function decideHost(host: HostNow, change: HostChange, left: ReplicasLeft): HostDecision {
  switch (change.kind) {
    case 'judgeWorker':
      return judgeWorker(host, change, left)
    case 'returnWorker':
      return returnWorker(host, change, left)
    case 'drainWorker':
      return drainWorker(host, change, left)
    case 'endWorker':
      return endWorker(host, change, left)
    case 'leaveHost':
      return leaveHost(host, change, left)
    case 'scheduleHost':
      return scheduleHost(host, change, left)
    case 'hostDrained':
      return hostDrained(host, left)
    case 'confirmHostLoss':
      return confirmHostLoss(host, change, left)
    case 'removeHost':
      return removeHost(host, change, left)
    case 'removeWorker':
      return removeWorker(host, change, left)
    case 'freePorts':
      return freePorts(host, left)
  }
}

/**
 * Which replicas the decision needs counted. Mostly it needs none, so that a failing cluster is not counted host by
 * host.
 */
export function looksAt(host: Pick<HostNow, 'scheduling'>, change: HostChange): Record<keyof ReplicasLeft, boolean> {
  const scheduling = change.kind === 'scheduleHost' ? change.scheduling : host.scheduling
  return { onHost: change.kind === 'removeHost' || scheduling === 'DRAINING', onWorker: change.kind === 'removeWorker' }
}

function hostDrained(host: HostNow, left: ReplicasLeft): HostDecision {
  const isDrained = host.scheduling === 'DRAINING' && host.reachability === 'REACHABLE' && left.onHost === 0
  if (!isDrained || host.reason === drainedReason) return unchanged
  return becomes(host, left, { mayBeDrained: true, message: drainedMessage(host.name), actor: 'xce' })
}

function freePorts(host: HostNow, left: ReplicasLeft): HostDecision {
  return becomes(host, left, { wakesPlacement: true, message: portsBackMessage(host.name), actor: 'xce' })
}
