import type { Logger } from 'pino'
import type { Tail } from '../../feed/tail.ts'
import type { Blocker } from '../../model/blocker.ts'
import type { CommittedFact } from '../../model/fact.ts'
import type { Grant } from '../../model/host.ts'
import type { Instant, ReplicaId, ServiceId } from '../../model/id.ts'
import { type Meter, noMeter } from '../../model/metrics.ts'
import { BlockerNews } from '../../rules/placement/blockerNews.ts'
import { byService } from '../../rules/placement/byService.ts'
import { place } from '../../rules/placement/placement.ts'
import type { Committer } from '../../store/commit/committer.ts'
import type { Clock } from '../../store/database/clock.ts'
import type { Database } from '../../store/database/database.ts'
import { CoalescedRuns } from '../timers/coalescedRuns.ts'
import { DatabaseAlarm } from '../timers/databaseAlarm.ts'
import { PlacementTurn } from './placementTurn.ts'
import { PlacementView } from './placementView.ts'

/** After a run that failed, or whose grants were all refused. */
const againAfterMillis = 200
/** While it goes on failing, as it does without a database that takes changes. */
const againAtLastMillis = 2_000

interface Hold {
  readonly replica: ReplicaId
  readonly blocker: Blocker
}

/**
 * Places what waits (R14). It runs when a fact says that its answer could be another now, one run at a time, each over everything that waits:
 * what wakes it during a run makes one more. Its grants are commits of the services, guarded by the hosts' allocations; a grant that is
 * refused because something else was faster is decided again in the next run. Of several servers one places at a time; the others look again when its
 * turn is over.
 */
export class Placer {
  readonly #committer: Committer
  readonly #clock: Clock
  readonly #tail: Tail
  readonly #view: PlacementView
  readonly #turn: PlacementTurn
  readonly #meter: Meter
  readonly #news = new BlockerNews()
  readonly #runs: CoalescedRuns
  /** Wakes when something ends that holds a replica and that no fact tells of, such as a port's quarantine. */
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
  }) {
    this.#committer = options.committer
    this.#clock = options.clock
    this.#tail = options.tail
    this.#view = new PlacementView(options.database)
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
        // Also while another server has the turn: it may be this one's next.
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
    // Another server may have told them something else.
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

  #wakeAtEnd(holds: readonly Hold[], now: Instant): void {
    const ends = holds.flatMap(({ blocker }) => (blocker.until === null ? [] : [blocker.until]))
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
    this.#wakeAtEnd(holds, now)
    this.#view.noteGrants(grants)
    const submitted = [
      ...[...byService(grants)].map(([serviceId, own]) => this.#grant(serviceId, own)),
      ...[...byService(this.#news.of(holds))].map(([serviceId, own]) => this.#hold(serviceId, own)),
    ]
    const refused = (await Promise.all(submitted)).filter((taken) => !taken).length
    return { granted: submitted.length - refused, refused }
  }

  async #grant(serviceId: ServiceId, grants: readonly Grant[]): Promise<boolean> {
    const outcome = await this.#committer.submit(serviceId, { kind: 'grant', grants })
    // A guard that refused it changed nothing: what waits must be looked at again.
    const granted = outcome.kind === 'done' && outcome.changed
    this.#meter.count('grants', grants.length, granted ? 'granted' : 'refused')
    return granted
  }

  async #hold(serviceId: ServiceId, holds: readonly Hold[]): Promise<boolean> {
    await this.#committer.submit(serviceId, { kind: 'setBlockers', blockers: holds })
    return true
  }
}

function wakesPlacement(fact: CommittedFact): boolean {
  return fact.data?.wakesPlacement === true
}
