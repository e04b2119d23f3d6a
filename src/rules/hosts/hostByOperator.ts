import { counted } from '../../model/counted.ts'
import type { HostChangeOf } from '../../model/hostChange.ts'
import { quoted } from '../../model/quoted.ts'
import type { Refusal } from '../../model/refusal.ts'
import { becomes, type HostDecision, type HostNow, type ReplicasLeft } from './hostTransition.ts'

// R15: the changes that operators make to a host and its workers, by name.

/** A change that an operator asks for by a name. */
export type OperatorChange = HostChangeOf<'scheduleHost' | 'confirmHostLoss' | 'removeHost' | 'removeWorker'>

/** Refuses a change whose name nothing has. */
export function notFound({ kind, name }: OperatorChange): Refusal {
  const [what, list] =
    kind === 'removeWorker' ? ['worker', 'the workers of the query hosts'] : ['host', 'the query hosts']
  return {
    code: 'NOT_FOUND',
    message: `There is no ${what} named ${quoted(name)}: see ${list}.`,
    path: ['input', what],
  }
}

export function scheduleHost(
  host: HostNow,
  { scheduling, actor }: HostChangeOf<'scheduleHost'>,
  left: ReplicasLeft,
): HostDecision {
  const { name } = host
  const drained = scheduling === 'OPEN' ? host.workers.filter(({ draining }) => draining) : []
  if (host.scheduling === scheduling && drained.length === 0) {
    const message = `Host ${name} is ${scheduling} already: there is nothing to change.`
    return { kind: 'refused', refusal: { code: 'NO_CHANGE', message, path: ['input', 'host'] } }
  }
  const stay = host.scheduling === 'DRAINING' || drained.length > 0 ? ', and those that have not left it stay' : ''
  const sentence = {
    OPEN: `${actor} uncordoned host ${name}: it takes replicas${stay}.`,
    CORDONED: `${actor} cordoned host ${name}: it takes no new replicas${stay}.`,
    DRAINING: `${actor} drains host ${name}: its replicas are replaced elsewhere, within the limits of their services.`,
  }[scheduling]
  const isDrained = scheduling === 'DRAINING' && host.reachability === 'REACHABLE' && left.onHost === 0
  return becomes(host, left, {
    workers: new Map(drained.map(({ id }) => [id, { draining: false }])),
    scheduling,
    mayBeDrained: true,
    wakesPlacement: scheduling === 'OPEN',
    message: isDrained ? `${actor} drained host ${name}: it has no replicas, and takes none.` : sentence,
    actor,
  })
}

export function confirmHostLoss(
  host: HostNow,
  { actor }: HostChangeOf<'confirmHostLoss'>,
  left: ReplicasLeft,
): HostDecision {
  const silent = host.workers.filter(({ reachability }) => reachability === 'UNREACHABLE')
  if (silent.length === 0) {
    const why =
      host.reachability === 'LOST'
        ? 'is lost already'
        : 'is reachable, so that it is not lost: drain it, then stop its worker'
    return invalidState('host', `Host ${host.name} ${why}.`)
  }
  const reason = `${actor} confirmed that it is lost.`
  const what =
    host.reachability === 'REACHABLE'
      ? `${counted(silent.length, 'silent worker')} of host ${host.name} (${silent.map(({ name }) => name).join(', ')}) ${silent.length === 1 ? 'is' : 'are'}`
      : `host ${host.name} is`
  return becomes(host, left, {
    workers: new Map(silent.map(({ id }) => [id, { reachability: 'LOST', reason, held: true, fences: true }])),
    message: `${actor} confirmed that ${what} lost.`,
    actor,
  })
}

export function removeHost(host: HostNow, { actor }: HostChangeOf<'removeHost'>, left: ReplicasLeft): HostDecision {
  const { name, reachability } = host
  if (reachability === 'REACHABLE')
    return invalidState(
      'host',
      `Host ${name} is reachable: drain it, stop its worker, and remove it when its lease is over.`,
    )
  if (left.onHost > 0) {
    const help =
      reachability === 'LOST'
        ? 'what a lost host had is being replaced, so try again'
        : 'wait until it is lost, or use confirmHostLoss'
    return invalidState(
      'host',
      `Host ${name} has ${counted(left.onHost, 'replica')} that ${left.onHost === 1 ? 'has' : 'have'} not ended: ${help}.`,
    )
  }
  return becomes(host, left, {
    workers: new Map(host.workers.map(({ id }) => [id, { removes: true }])),
    reason: `${actor} removed it.`,
    removes: true,
    message: `${actor} removed host ${name}.`,
    actor,
  })
}

export function removeWorker(host: HostNow, change: HostChangeOf<'removeWorker'>, left: ReplicasLeft): HostDecision {
  const { name, actor } = change
  const worker = host.workers.find((other) => other.name === name)
  if (worker === undefined) return { kind: 'refused', refusal: notFound(change) }
  if (worker.reachability !== 'LOST' || left.onWorker > 0) {
    const why = {
      REACHABLE: 'is reachable: drain and stop it, and remove it when it is lost',
      UNREACHABLE: `is not lost yet: wait until its grace is over, or use confirmHostLoss of host ${host.name}`,
      LOST: `has ${counted(left.onWorker, 'replica')} that are being replaced: try again`,
    }[worker.reachability]
    return invalidState('worker', `Worker ${name} ${why}.`)
  }
  return becomes(host, left, {
    workers: new Map([[worker.id, { removes: true }]]),
    wakesPlacement: true,
    message: `${actor} removed worker ${name} of host ${host.name}.`,
    actor,
  })
}

function invalidState(what: 'host' | 'worker', message: string): HostDecision {
  return { kind: 'refused', refusal: { code: 'INVALID_STATE', message, path: ['input', what] } }
}
