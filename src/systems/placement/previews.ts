import type { Logger } from 'pino'
import type { ServiceId } from '../../model/id.ts'
import type { ServiceIntent } from '../../model/intent.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { RolloutPlan } from '../../simulation/plan.ts'
import { Preview } from '../../simulation/preview.ts'
import type { DatabaseClock } from '../../store/database/clock.ts'
import type { Database } from '../../store/database/database.ts'
import { readForPreview } from '../../store/read/readForPreview.ts'

/** A preview yields to other work after this many milliseconds: it only takes time that is left over. */
const sliceMillis = 20

/** Computes what intents would lead to, one preview at a time however many are asked for. */
export class Previews {
  readonly #database: Database
  readonly #clock: DatabaseClock
  readonly #log: Logger
  #running: Promise<unknown> = Promise.resolve()

  constructor({
    database,
    clock,
    log,
  }: { readonly database: Database; readonly clock: DatabaseClock; readonly log: Logger }) {
    this.#database = database
    this.#clock = clock
    this.#log = log
  }

  /** Computes a preview from the service and the cluster as they are when its turn comes. It changes nothing. */
  preview(serviceId: ServiceId, intent: ServiceIntent, readyAfterSeconds: number): Promise<RolloutPlan | Refusal> {
    const turn = this.#running.then(() => this.#run(serviceId, intent, readyAfterSeconds))
    this.#running = turn.catch(() => undefined)
    return turn
  }

  async #run(serviceId: ServiceId, intent: ServiceIntent, readyAfterSeconds: number): Promise<RolloutPlan | Refusal> {
    const state = await readForPreview(this.#database, serviceId)
    if (state === null) return { code: 'NOT_FOUND', message: 'The service is gone.', path: ['input', 'service'] }
    const { snapshot, queuePriority, project, placement } = state
    const { hosts, waiting, projects } = placement
    const now = this.#clock.now()
    const preview = new Preview({
      snapshot,
      queuePriority,
      project,
      hosts,
      waiting,
      projects,
      intent,
      readyAfterSeconds,
      now,
    })
    if (preview.refusal !== null) return preview.refusal
    for (let more = true; more; ) {
      const until = performance.now() + sliceMillis
      while (more && performance.now() < until) more = preview.step()
      if (more) await new Promise((resolve) => setImmediate(resolve))
    }
    const { faults } = preview
    if (faults.length > 0) this.#log.error({ service: serviceId, faults }, 'A preview broke invariants of the rules.')
    return preview.plan()
  }
}
