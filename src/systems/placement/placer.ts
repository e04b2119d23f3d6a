import type { Logger } from 'pino'
import type { Tail } from '../../feed/tail.ts'
import type { Blocker } from '../../model/blocker.ts'
import type { CommittedFact } from '../../model/fact.ts'
import type { Grant } from '../../model/host.ts'
import type { Instant, ReplicaId, ServiceId } from '../../model/id.ts'
import { type Meter, noMeter } from '../../model/metrics.ts'
import { BlockerNews } from '../../rules/placement/blockerNews.ts'
import { byService, type Hold, place, withHolders } from '../../rules/placement/placement.ts'
import { unknownHolders } from '../../rules/placement/portHolders.ts'
import type { Committer } from '../../store/commit/committer.ts'
import type { Clock } from '../../store/database/clock.ts'
import type { Database } from '../../store/database/database.ts'
import { readPortHolders } from '../../store/read/readPortHolders.ts'
import { CoalescedRuns } from '../timers/coalescedRuns.ts'
import { DatabaseAlarm } from '../timers/databaseAlarm.ts'
import { PlacementTurn } from './placementTurn.ts'
import { PlacementView } from './placementView.ts'

/** The wait after a run that failed, or whose grants were all refused. */
const againAfterMillis = 200
/** The longest wait while runs go on failing, as they do when the database takes no changes. */
const againAtLastMillis = 2_000

interface Unplaced {
  readonly replica: ReplicaId
  readonly blocker: Blocker
}

/**
 * Places waiting replicas (R14). A run starts when a fact may have changed the answer, and looks at everything that
 * waits; a wake-up during a run starts one more. Grants are commits of the services, guarded by the hosts' allocations;
 * a grant that is refused because another change was faster is decided again in the next run. Of several servers one
 * places at a time; the others look again when its turn is over.
 */
export class Placer {
  readonly #committer: Committer
  readonly #clock: Clock
  readonly #tail: Tail
  readonly #database: Database
  readonly #view: PlacementView
  readonly #turn: PlacementTurn
  readonly #meter: Meter
  readonly #news = new BlockerNews()
  readonly #runs: CoalescedRuns
  /** Rings when something ends that keeps a replica waiting and makes no fact, such as a port's quarantine. */
  readonly #ending: DatabaseAlarm
  #unsubscribe: (() => void) | null = null

  constructor(options: {
    readonly database: Database
    readonly committer: Committer
    readonly clock: Clock
    readonly tail: Tail
    readonly log: Logger
    readonly newId: () => string
    readonly meter?: Meter
    /** The view that others look at, too; a view of its own if left out. */
    readonly view?: PlacementView
  }) {
    this.#committer = options.committer
    this.#clock = options.clock
    this.#tail = options.tail
    this.#database = options.database
    this.#view = options.view ?? new PlacementView(options.database)
    this.#turn = new PlacementTurn(options.database, options.newId)
    this.#meter = options.meter ?? noMeter
    this.#runs = new CoalescedRuns({
      run: () => this.#run(),
      log: options.log,
      failure: 'Placement failed',
      againAfterMillis: (failures) => Math.min(againAtLastMillis, againAfterMillis * 2 ** failures),
    })
    this.#ending = new DatabaseAlarm(options.clock, () => this.#runs.wake())
  }

  start(): void {
    this.#unsubscribe = this.#tail.subscribe(
      (facts) => {
        // This server looks again also while another one has the turn, because it may be next.
        this.#view.note(facts)
        if (facts.some(wakesPlacement)) this.#runs.wake()
      },
      () => {
        this.#view.forget()
        this.#runs.wake()
      },
    )
    this.#runs.wake()
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#ending.stop()
    await this.#runs.stop()
    await this.#turn.give()
  }

  async #run(): Promise<void> {
    const { waitMillis, isNew } = await this.#turn.take()
    // Another server may have set other blockers meanwhile.
    if (isNew) this.#news.forget()
    if (waitMillis > 0) {
      this.#runs.wakeWithin(waitMillis)
      return
    }
    const startedAt = performance.now()
    const { granted, refused } = await this.#placeAll()
    this.#meter.count('placementRuns')
    this.#meter.observe('placementSeconds', (performance.now() - startedAt) / 1000)
    if (refused === 0) return
    if (granted > 0) this.#runs.wake()
    else this.#runs.wakeWithin(againAfterMillis)
  }

  #wakeAtEnd(blockers: readonly Unplaced[], now: Instant): void {
    const ends = blockers.flatMap(({ blocker }) => (blocker.until === null ? [] : [blocker.until]))
    this.#ending.set(
      ends.length === 0
        ? null
        : Math.max(
            ends.reduce((a, b) => Math.min(a, b)),
            now + againAfterMillis,
          ),
    )
  }

  async #placeAll(): Promise<{ granted: number; refused: number }> {
    const input = await this.#view.read()
    if (input.waiting.length === 0) {
      this.#news.forget()
      this.#ending.set(null)
      return { granted: 0, refused: 0 }
    }
    const now = this.#clock.now()
    const { grants, holds } = place({ ...input, now })
    const blockers = await this.#nameHolders(holds, now)
    this.#wakeAtEnd(blockers, now)
    this.#view.noteGrants(grants)
    const submitted = [
      ...[...byService(grants)].map(([serviceId, own]) => this.#grant(serviceId, own)),
      ...[...byService(this.#news.of(blockers))].map(([serviceId, own]) => this.#setBlockers(serviceId, own)),
    ]
    const refused = (await Promise.all(submitted)).filter((taken) => !taken).length
    return { granted: submitted.length - refused, refused }
  }

  /** Has the blockers say who holds the fixed ports that were missing. Nothing is read where none was. */
  async #nameHolders(holds: readonly Hold[], now: Instant): Promise<readonly Hold[]> {
    const unknown = unknownHolders(holds.map(({ obstacle }) => obstacle))
    if (unknown.length === 0) return holds
    const holders = await readPortHolders(this.#database, unknown)
    return holds.map((hold) => (hold.obstacle.missing.length === 0 ? hold : withHolders(hold, holders, now)))
  }

  async #grant(serviceId: ServiceId, grants: readonly Grant[]): Promise<boolean> {
    const outcome = await this.#committer.submit(serviceId, { kind: 'grant', grants })
    // A guard that refused the grant changed nothing, so the waiting replicas must be looked at again.
    const granted = outcome.kind === 'done' && outcome.changed
    this.#meter.count('grants', grants.length, granted ? 'granted' : 'refused')
    return granted
  }

  async #setBlockers(serviceId: ServiceId, blockers: readonly Unplaced[]): Promise<boolean> {
    await this.#committer.submit(serviceId, { kind: 'setBlockers', blockers })
    return true
  }
}

function wakesPlacement(fact: CommittedFact): boolean {
  return fact.data?.wakesPlacement === true
}
