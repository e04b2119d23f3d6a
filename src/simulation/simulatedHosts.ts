import { intentsPerCommit } from '../model/bounds.ts'
import { addTo } from '../model/groupBy.ts'
import type { HostChange } from '../model/hostChange.ts'
import type { ServiceId, WorkerId } from '../model/id.ts'
import type { ServiceIntent, WorkerIntent } from '../model/intent.ts'
import { decideHost, looksAt } from '../rules/hosts/hostDecision.ts'
import type { HostTransition } from '../rules/hosts/hostTransition.ts'
import type { HostLedger } from './hostLedger.ts'
import type { SimulatedStore } from './simulatedStore.ts'

export interface SimulatedHostsOptions {
  readonly store: SimulatedStore
  readonly wakePlacement: () => void
  /** Called with the event, or with the reason of a refusal. */
  readonly onMessage: (host: HostLedger, message: string) => void
}

type IntentsByKind = Record<WorkerIntent['kind'], Map<ServiceId, ServiceIntent[]>>

/**
 * Changes hosts and their workers (R15), by the same decisions as the server's. Every service that has replicas there
 * hears of it, in one commit of the service for all hosts at once.
 */
export class SimulatedHosts {
  readonly #options: SimulatedHostsOptions

  constructor(options: SimulatedHostsOptions) {
    this.#options = options
  }

  write(changes: readonly (readonly [HostLedger, HostChange])[]): void {
    const { store, onMessage, wakePlacement } = this.#options
    const intentsByKind: IntentsByKind = { unreach: new Map(), lose: new Map(), drain: new Map(), undrain: new Map() }
    for (const [host, change] of changes) {
      const onHost = looksAt(host, change).onHost ? host.countReplicas() : 0
      // Simulations never remove workers.
      const decision = decideHost(host, change, { onHost, onWorker: 0 })
      if (decision.kind === 'refused') onMessage(host, `${change.kind} was refused: ${decision.refusal.message}`)
      if (decision.kind !== 'changed') continue
      const { next, message } = decision
      for (const [kind, worker] of newsOf(host, next))
        for (const id of host.replicasOf.keys()) addTo(intentsByKind[kind], id, { kind, worker })
      host.become(next, store.now)
      onMessage(host, message)
      if (next.wakesPlacement) wakePlacement()
    }
    for (const services of Object.values(intentsByKind)) {
      for (const [id, intents] of services) {
        // A commit changes a limited number of rows, so the intents are submitted until nothing is left to change.
        while (this.submit(id, intents));
      }
    }
  }

  /** Returns whether something changed. */
  submit(id: ServiceId, intents: readonly ServiceIntent[]): boolean {
    let changed = false
    for (let from = 0; from < intents.length; from += intentsPerCommit) {
      const outcomes = this.#options.store.submit(id, ...intents.slice(from, from + intentsPerCommit))
      changed ||= outcomes.some((outcome) => outcome.kind === 'done' && outcome.changed)
    }
    return changed
  }
}

/** Lists what the services must hear of a host's workers. That a worker is back they hear from its own report. */
function newsOf(host: HostLedger, next: HostTransition): [WorkerIntent['kind'], WorkerId][] {
  const news: [WorkerIntent['kind'], WorkerId][] = []
  for (const worker of host.workers) {
    const { reachability, draining } = next.workers.find(({ id }) => id === worker.id) ?? worker
    if (reachability === 'UNREACHABLE' && worker.reachability !== 'UNREACHABLE') news.push(['unreach', worker.id])
    if (reachability === 'LOST' && worker.reachability !== 'LOST') news.push(['lose', worker.id])
    const leaves = next.scheduling === 'DRAINING' || draining
    if (leaves !== (host.scheduling === 'DRAINING' || worker.draining))
      news.push([leaves ? 'drain' : 'undrain', worker.id])
  }
  return news
}
