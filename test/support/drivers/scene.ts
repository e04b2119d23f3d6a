import type { AllocatedPort } from '../../../src/model/content.ts'
import type { Grant } from '../../../src/model/host.ts'
import type { ReplicaReport, Reporter, ServiceIntent } from '../../../src/model/intent.ts'
import type { CommitOutcome } from '../../../src/model/outcome.ts'
import type { Replica } from '../../../src/model/service.ts'
import type { ServiceChange } from '../../../src/rules/draft/change.ts'
import {
  grantOf,
  type ManualContext,
  manualContext,
  newService,
  reporter,
  reportOf,
  type ServiceGiven,
} from '../fixtures/services.ts'
import { ServiceStore } from './serviceStore.ts'

/** One service on host `node1`, and the few things that a test lets happen to it. */
export class Scene {
  readonly ctx: ManualContext = manualContext()
  readonly store: ServiceStore
  sequence = 0
  #port = 20_000

  constructor(service: ServiceGiven = {}) {
    this.store = new ServiceStore(newService(service), this.ctx)
  }

  get snapshot() {
    return this.store.snapshot
  }

  /** The active replica of that index. */
  row(index: number): Replica {
    const row = this.store.alive.find((alive) => alive.index === index && alive.state !== 'STOPPING')
    if (row === undefined) throw new Error(`No active replica has index ${index}.`)
    return row
  }

  /** Sets the limit of the service's project. */
  limit(maxReplicas: number | null): this {
    this.store.snapshot = { ...this.store.snapshot, maxReplicas }
    return this
  }

  wait(seconds: number): this {
    this.ctx.now += seconds * 1000
    return this
  }

  commit(...intents: ServiceIntent[]): ServiceChange {
    return this.store.commit(this.ctx, ...intents).change
  }

  /** One intent, and what became of it. */
  ask(intent: ServiceIntent): CommitOutcome {
    const [outcome] = this.store.commit(this.ctx, intent).outcomes
    if (outcome === undefined) throw new Error('An intent has an outcome.')
    return outcome
  }

  /** One intent in as many commits as its rows need. */
  whole(intent: ServiceIntent): ServiceChange[] {
    const changes: ServiceChange[] = []
    for (;;) {
      const { change, outcomes } = this.store.commit(this.ctx, intent)
      changes.push(change)
      if (outcomes.every(({ kind }) => kind !== 'unfinished')) return changes
    }
  }

  tick(): ServiceChange {
    return this.commit({ kind: 'tick' })
  }

  scale(replicas: number): ServiceChange {
    return this.commit({ kind: 'scale', replicas, expectedRevision: null, actor: 'alice' })
  }

  kill(index: number): ServiceChange {
    return this.commit({ kind: 'kill', replica: this.row(index).id, actor: 'alice' })
  }

  /** Places everything whose wait is over. */
  place(over: Partial<Grant> = {}): ServiceChange {
    const waiting = this.store.alive.filter((row) => row.state === 'PENDING' && row.notBefore === null)
    return this.commit({
      kind: 'grant',
      grants: waiting.map((row) => grantOf(row.id, { ...this.#nextPort(), ...over })),
    })
  }

  /** The worker's next report, of several replicas at once; of very many the last commit. */
  report(reports: readonly ReplicaReport[], by: Partial<Reporter> = {}): ServiceChange {
    const changes = this.whole({ kind: 'report', reporter: reporter(by), sequence: ++this.sequence, reports })
    return changes.at(-1) ?? this.tick()
  }

  /** Everything that is placed runs and is ready. */
  ready(): ServiceChange {
    return this.report(
      this.store.alive.filter((row) => row.state === 'STARTING' || row.state === 'RUNNING').map((row) => reportOf(row)),
    )
  }

  /** The active replica of that index ends by itself. */
  end(index: number, over: Partial<ReplicaReport> = {}): ServiceChange {
    return this.report([
      reportOf(this.row(index), { state: 'ENDED', ready: false, endReason: 'EXITED', exitCode: 1, ...over }),
    ])
  }

  /** Whatever is stopping has stopped. */
  confirmStops(): ServiceChange {
    const stopping = this.store.alive.filter((row) => row.state === 'STOPPING')
    return this.report(
      stopping.map((row) => reportOf(row, { state: 'ENDED', ready: false, endReason: 'STOPPED', exitCode: 0 })),
    )
  }

  #nextPort(): { ports: AllocatedPort[]; lastPort: number } {
    const port = this.#port++
    return { ports: [{ name: 'http', port, protocol: 'TCP' }], lastPort: port }
  }
}

/** A service whose replicas are all placed and ready. */
export function readyScene(service: ServiceGiven = {}): Scene {
  const scene = new Scene(service)
  scene.place()
  scene.ready()
  return scene
}

/** The events of a change, as a person reads them. */
export const messagesOf = (change: ServiceChange): string[] =>
  change.facts.flatMap((fact) => (fact.event === null ? [] : fact.event.message))

/** The change that a service's last fact carries. */
export function dataOf(change: ServiceChange) {
  const fact = change.facts.at(-1)
  if (fact?.kind !== 'change') throw new Error('Nothing changed.')
  return fact.data
}
