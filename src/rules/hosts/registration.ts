import type { HostScheduling } from '../../generated/prisma/enums.ts'
import { addTo } from '../../model/groupBy.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { WorkerOffer } from '../../model/workerOffer.ts'
import { type HostState, hostStateOf, portsBackMessage, reasonOf, type WorkerState } from './hostState.ts'
import { isOvertaken, isSame, type Newcomer, nameHeldBy, type Registered } from './workerName.ts'

/** What tells which worker registers (R15). */
export interface Identifying extends Newcomer {
  /** The subject of the token that registers it. */
  readonly subject: string
  /** The worker may be one that another subject's token registered. */
  readonly asAdmin: boolean
  /** How long after the end of its lease a silent worker keeps its name. */
  readonly graceSeconds: number
}

/** What a worker says when it registers (R15). */
export interface Registering extends Identifying, Pick<WorkerOffer, 'cpuMillis' | 'memoryMiB' | 'portRange'> {
  /** The worker says that it runs nothing. */
  readonly clean: boolean
}

/** A worker that is registered already. */
export interface WorkerBefore extends WorkerState, Registered {
  readonly id: string
  readonly subject: string
  readonly epoch: number
}

/**
 * `known` is the worker itself from before it was started again. `replaced` is another, LOST worker that had its name.
 */
export type Identity<Worker> =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'identified'; readonly known: Worker | null; readonly replaced: Worker | null }

export interface RegistrationView {
  readonly worker: Registering
  readonly known: WorkerBefore | null
  readonly replaced: WorkerBefore | null
  /** The worker has replicas on another host than the one it registers on. */
  readonly hasReplicasElsewhere: boolean
  /** The newest epoch under which its replicas were reported; 0 means none. */
  readonly reportedEpoch: number
  /** The host it registers on, which may be a removed one; null means a new host. */
  readonly host: {
    readonly scheduling: HostScheduling
    readonly isRemoved: boolean
    readonly workers: readonly WorkerBefore[]
  } | null
  /** No replica is left on the host. */
  readonly isEmpty: boolean
  /** LOST workers that still have replicas, or for which ports are kept. */
  readonly keptFor: ReadonlySet<string>
  /** The names of other hosts that keep ports for it. */
  readonly keptElsewhere: readonly string[]
}

export type RegistrationDecision =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | {
      readonly kind: 'registered'
      readonly host: HostState & { readonly scheduling: HostScheduling; readonly reason: string | null }
      /** The host takes over the worker's addresses and ports. */
      readonly speaksForHost: boolean
      readonly epoch: number
      readonly reachability: 'REACHABLE' | 'LOST'
      readonly reason: string | null
      /**
       * LOST workers for which nothing is kept: they are forgotten, because nobody needs them once another worker
       * comes.
       */
      readonly forgotten: readonly string[]
      /** The worker that had the name, and the name that it goes on under. */
      readonly aside: { readonly id: string; readonly name: string } | null
      /** The sentence of the event. */
      readonly message: string
      /** Events of other hosts that the registration changes, by the hosts' names. */
      readonly elsewhere: readonly { readonly host: string; readonly message: string }[]
    }

/** The reason of a LOST worker that is back. */
const uncleanReason =
  'It is back after it was lost, and has to stop what was replaced meanwhile before it takes new replicas.'

/**
 * Finds out which worker registers. `named` has the name now; `alike` have its state directory, on whatever host, the
 * newest first. `freeAt` is the instant at which the name is free if the one that has it stays silent.
 */
export function identify<Worker extends WorkerBefore>(
  worker: Identifying,
  named: Worker | null,
  alike: readonly Worker[],
  freeAt: string,
): Identity<Worker> {
  const held = named && nameHeldBy(named, worker, freeAt)
  if (held !== null) return invalidName(held)
  // The same state directory is the same worker, even under a new name. Another directory is another worker, and then
  // the one that had the name is LOST.
  const known =
    named && isSame(named, worker) ? named : (alike.find(({ host }) => host === worker.host) ?? alike[0] ?? null)
  if (known !== null && known.subject !== worker.subject && !worker.asAdmin) {
    const message = `Worker ${known.name} was registered with another token: use that one, or another name and state directory.`
    return { kind: 'refused', refusal: { code: 'FORBIDDEN', message } }
  }
  if (known !== null && isOvertaken(known, worker)) {
    const newest = known.registrationNumber
    const message = `Registration ${worker.registrationNumber} of worker ${worker.name} comes late, or from an old copy of its state directory, of which number ${newest} was taken already: register with a number above that.`
    return { kind: 'refused', refusal: { code: 'OVERTAKEN', message, newest } }
  }
  return { kind: 'identified', known, replaced: named !== null && named.id !== known?.id ? named : null }
}

/**
 * R15: decides a worker's registration, which gets a new epoch. A worker that was LOST, or that nobody knows any more,
 * stays LOST until it runs nothing.
 */
export function decideRegistration(view: RegistrationView): RegistrationDecision {
  const { worker, known, replaced, host, keptFor } = view
  // Its replicas are where they were placed and must end there first. A LOST worker gets no new ones, so its number of
  // replicas only falls.
  if (known !== null && known.host !== worker.host && known.reachability !== 'LOST')
    return invalidName(`Worker ${known.name} is still on host ${known.host}: register again in a moment.`)
  if (view.hasReplicasElsewhere)
    return invalidName(
      `Worker ${worker.name} has replicas on another host, which are being replaced: register again in a moment.`,
    )
  // The epoch is above every earlier report of its replicas, because what the worker says now is newer.
  const epoch = Math.max(view.reportedEpoch, known?.epoch ?? 0) + 1
  // A removed host starts over.
  const scheduling = host === null || host.isRemoved ? 'OPEN' : host.scheduling
  // A worker that nobody knows any more was LOST, so what it still runs was replaced.
  const returned = worker.clean || (known !== null && known.reachability !== 'LOST')
  const reachability = returned ? 'REACHABLE' : 'LOST'
  const reason = returned ? null : uncleanReason
  const others = (host?.workers ?? []).filter(({ id }) => id !== known?.id)
  const isForgotten = (other: WorkerBefore) => other.reachability === 'LOST' && !keptFor.has(other.id)
  const gone = (
    replaced === null || others.some(({ id }) => id === replaced.id) ? others : [...others, replaced]
  ).filter(isForgotten)
  const aside =
    replaced && !isForgotten(replaced)
      ? { id: replaced.id, name: `${replaced.name}.lost-${replaced.id.slice(-8)}` }
      : null
  const { name, cpuMillis, memoryMiB } = worker
  const workers = [
    ...others.filter((other) => !isForgotten(other)),
    { name, reachability, reason, draining: false, cpuMillis, memoryMiB } as const,
  ]
  const isDrained = host !== null && scheduling === 'DRAINING' && view.isEmpty
  return {
    kind: 'registered',
    host: { ...hostStateOf(workers), scheduling, reason: reasonOf(scheduling, isDrained, workers) },
    // A worker that must become clean first does not change the host's addresses while other workers are there.
    speaksForHost: returned || !others.some((other) => other.reachability === 'REACHABLE'),
    epoch,
    reachability,
    reason,
    forgotten: gone.map(({ id }) => id),
    aside,
    message: messageOf(worker, workers, epoch, returned),
    elsewhere: newsElsewhere(view, returned, aside),
  }
}

function messageOf(worker: Registering, workers: readonly WorkerState[], epoch: number, returned: boolean): string {
  const { name, host, cpuMillis, memoryMiB, portRange } = worker
  const there = workers.filter(({ reachability }) => reachability !== 'LOST').length
  const beside = there > 1 ? `, one of ${there} workers there` : ''
  const offer = `${cpuMillis} CPU millis, ${memoryMiB} MiB, ports ${portRange.from}–${portRange.to}`
  const stale = returned
    ? ''
    : ' It runs replicas that have been replaced, and takes no others before those have stopped.'
  return `Worker ${name} registered on host ${host}${beside} (epoch ${epoch}): ${offer}.${stale}`
}

function newsElsewhere(
  { worker: { host: here }, known, replaced, keptElsewhere }: RegistrationView,
  returned: boolean,
  aside: { readonly name: string } | null,
): readonly { readonly host: string; readonly message: string }[] {
  const messagesByHost = new Map<string, string[]>()
  const addMessage = (host: string, message: string) => {
    if (host !== here) addTo(messagesByHost, host, message)
  }
  if (known) addMessage(known.host, `Worker ${known.name} of host ${known.host} is on host ${here} now.`)
  if (replaced) {
    const becomes = aside
      ? `is named ${aside.name} now: it is lost, and`
      : 'is forgotten: it was lost, nothing is kept for it, and'
    addMessage(
      replaced.host,
      `Worker ${replaced.name} of host ${replaced.host} ${becomes} a worker of host ${here} has its name.`,
    )
  }
  // The worker runs nothing that those hosts keep ports for.
  if (returned) for (const host of keptElsewhere) addMessage(host, portsBackMessage(host))
  return [...messagesByHost].map(([host, messages]) => ({ host, message: messages.join(' ') }))
}

function invalidName(message: string): { readonly kind: 'refused'; readonly refusal: Refusal } {
  return {
    kind: 'refused',
    refusal: { code: 'INVALID_INPUT', message, issues: [{ path: ['input', 'name'], message }] },
  }
}
