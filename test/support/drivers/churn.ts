import type { ReplicaId, ServiceId } from '../../../src/model/id.ts'
import type { Reporter } from '../../../src/model/intent.ts'
import { reportOf } from '../fixtures/services.ts'
import type { TestStore } from './store.ts'

/** Services whose replicas end and are replaced, through the committer, as fast as asked. */
export class Churn {
  readonly store: TestStore
  readonly reporter: Reporter
  readonly services: readonly ServiceId[]
  #sequence = 0

  private constructor(store: TestStore, reporter: Reporter, services: readonly ServiceId[]) {
    this.store = store
    this.reporter = reporter
    this.services = services
  }

  static async on(store: TestStore, services: number, replicas: number): Promise<Churn> {
    const reporter = await store.register({ cpuMillis: 1_000_000_000, memoryMiB: 1_000_000_000 })
    const ids = []
    for (let index = 0; index < services; index++) ids.push(await store.create({ replicas }))
    const churn = new Churn(store, reporter, ids)
    await churn.settle()
    return churn
  }

  /** Places what waits and lets it run. */
  async settle(): Promise<void> {
    await this.store.place(this.services)
    await Promise.all(this.services.map((id) => this.store.reportReady(id, this.reporter, ++this.#sequence)))
  }

  /** Every replica is killed, ends, and is replaced by one that runs: 3 commits and more of each service. `millis` gets what the kills took. */
  async round(millis: number[] = []): Promise<void> {
    await Promise.all(
      this.services.map(async (id) => {
        const { replicas } = await this.store.load(id)
        const sentAt = performance.now()
        const kill = (replica: ReplicaId) => this.store.committer.submit(id, { kind: 'kill', replica, actor: 'churn' })
        await Promise.all([...replicas.keys()].map(kill))
        millis.push(performance.now() - sentAt)
        const stopping = [...(await this.store.load(id)).replicas.values()].filter(({ state }) => state === 'STOPPING')
        const reports = stopping.map((replica) =>
          reportOf(replica, { state: 'ENDED', ready: false, endReason: 'STOPPED', exitCode: 0 }),
        )
        await this.store.committer.submit(id, {
          kind: 'report',
          reporter: this.reporter,
          sequence: ++this.#sequence,
          reports,
        })
      }),
    )
    await this.settle()
  }
}
