import type { Instant, RolloutId, WorkerId } from '../../src/model/id.ts'
import type {
  NewService,
  ReplicaReport,
  Reporter,
  RollbackIntent,
  ServiceIntent,
  UpdateIntent,
} from '../../src/model/intent.ts'
import { isOn, isPlaced } from '../../src/model/replica.ts'
import type { Replica, Version } from '../../src/model/service.ts'
import { check, ServiceStore } from '../support/drivers/serviceStore.ts'
import {
  pauseIntent,
  profileRevision,
  restartIntent,
  resumeIntent,
  rollbackTo,
  updateTo,
} from '../support/fixtures/rollouts.ts'
import {
  content,
  grantOf,
  hostId,
  type ManualContext,
  manualContext,
  newService,
  reportOf,
} from '../support/fixtures/services.ts'
import { Recording } from './recording.ts'
import type { Happening, History } from './serviceHistory.ts'
import { checkInvariants, checkSafety } from './serviceInvariants.ts'

type Place = Pick<Reporter, 'hostId' | 'workerId'>

/** A host with one worker, and one with two. */
const places: readonly [Place, Place, Place] = [
  { hostId: hostId(0), workerId: 'worker-0' as WorkerId },
  { hostId: hostId(1), workerId: 'worker-1' as WorkerId },
  { hostId: hostId(1), workerId: 'worker-2' as WorkerId },
]
const placeOf = (pick: number): Place => places[pick % 3] ?? places[0]

/** Lives through a history, checking the invariants after every commit. */
export class ServiceLife {
  readonly ctx: ManualContext = manualContext()
  readonly store: ServiceStore
  readonly #sequences = new Map<WorkerId, number>()
  readonly #epochs = new Map<WorkerId, number>()
  readonly #recording: Recording
  #port = 20_000
  #edited = false

  /** `mostRows`: that a commit may write. */
  constructor(told: History, recording: Recording = new Recording(), mostRows?: number) {
    this.#recording = recording
    const service: NewService = newService({
      replicas: told.replicas,
      settings: told.settings,
      content: told.probed ? content() : content({ readiness: null }),
    })
    recording.begin(service, this.ctx)
    this.store = new ServiceStore(service, this.ctx, mostRows)
    checkInvariants(this.store, this.ctx)
    for (const happening of told.happenings) this.#live(happening)
  }

  /** Everything becomes ready: it is placed, reported, and what stops ends. */
  becomeReady(): void {
    if (this.store.snapshot.columns.paused) this.#commit(resumeIntent)
    for (const place of places) this.#resync(place, () => true)
    for (let round = 0; round < 400; round++) {
      const { snapshot } = this.store
      const placed = this.store.alive.filter(isPlaced)
      this.#reportAll(placed.map((row) => (row.state === 'STOPPING' ? ended(row, 'STOPPED') : reportOf(row))))
      this.#commit({ kind: 'grant', grants: this.#waiting().map((row) => this.#grantFor(row, row.index)) })
      const dueAt = this.#earliestTimer()
      const isStill = this.store.alive.every((row) => row.available) && snapshot.rollout.finishedAt !== null
      if (isStill && this.store.alive.length === this.#desired()) return
      if (dueAt !== null && dueAt > this.ctx.now && this.#waiting().length === 0) this.ctx.now = dueAt
      this.#commit({ kind: 'tick' })
    }
    throw new Error(`Broken: it does not end in readiness: ${JSON.stringify(this.store.alive)}`)
  }

  #desired(): number {
    const { columns } = this.store.snapshot
    return columns.deletionRequestedAt === null ? columns.desiredReplicas : 0
  }

  #live({ step, pick, amount }: Happening): void {
    const { alive } = this.store
    const placed = alive.filter(isPlaced)
    const some = <T>(rows: readonly T[], most = 3): T[] => {
      if (rows.length === 0) return []
      const count = 1 + (amount % Math.min(most, rows.length))
      return rows.slice(pick % rows.length).slice(0, count)
    }
    switch (step) {
      case 'scale':
        this.#commit(scaleTo(amount % 12))
        break
      case 'kill':
        this.#commit(...some(alive, 2).map((row): ServiceIntent => ({ kind: 'kill', replica: row.id, actor: 'bob' })))
        break
      case 'requeue':
        this.#commit(
          ...some(alive, 2).map((row): ServiceIntent => ({ kind: 'requeue', replica: row.id, actor: 'bob' })),
        )
        break
      case 'ready':
        this.#reportAll(some(placed, 8).map((row) => reportOf(row)))
        break
      case 'unready':
        this.#reportAll(some(placed).map((row) => reportOf(row, { ready: false })))
        break
      case 'restart':
        this.#reportAll(
          some(placed).flatMap((row) => [
            reportOf(row, { start: row.start + 1, state: 'STARTING', ready: false }),
            reportOf(row, { start: row.start + 1, ready: pick % 2 === 0 }),
          ]),
        )
        break
      case 'end':
        this.#reportAll(
          some(placed).map((row) =>
            ended(row, (['EXITED', 'GAVE_UP', 'START_FAILED', 'COMPLETED'] as const)[pick % 4] ?? 'EXITED'),
          ),
        )
        break
      case 'stopped':
        this.#reportAll(
          some(
            placed.filter((row) => row.state === 'STOPPING'),
            8,
          ).map((row) => ended(row, 'STOPPED')),
        )
        break
      case 'portTaken':
        this.#takePorts(some(placed, 2))
        break
      case 'grant':
        this.#commit({ kind: 'grant', grants: some(this.#waiting(), 6).map((row) => this.#grantFor(row, pick)) })
        break
      case 'setBlockers':
        this.#commit({
          kind: 'setBlockers',
          blockers: some(this.#waiting()).map((row) => ({ replica: row.id, blocker: this.#noPlace(row, pick) })),
        })
        break
      case 'tick':
        this.#commit({ kind: 'tick' })
        break
      case 'clock':
        this.ctx.now += pick * 50
        this.#commit({ kind: 'tick' })
        break
      case 'timer':
        this.ctx.now = Math.max(this.ctx.now, this.#earliestTimer() ?? 0)
        this.#commit({ kind: 'tick' })
        break
      case 'adopt':
        this.#adopt(placeOf(pick), amount)
        break
      case 'stale':
        this.#reportStale(some(placed).map((row) => ended(row, 'EXITED')))
        break
      case 'resetBackoff':
        this.#commit({ kind: 'resetBackoff', actor: 'bob' })
        break
      case 'batch':
        this.#commit(
          scaleTo(amount % 12),
          ...some(alive, 2).map((row): ServiceIntent => ({ kind: 'kill', replica: row.id, actor: 'bob' })),
          scaleTo(pick % 12),
          { kind: 'tick' },
        )
        break
      case 'update':
        this.#commit(this.#update(pick, amount))
        break
      case 'revise':
        this.#commit(this.#revise(pick))
        break
      case 'limits':
        this.#commit(updateTo(null, { settings: this.#limits(amount), rolloutId: this.#rolloutId() }))
        break
      case 'rollback':
        this.#commit(this.#rollback(pick))
        break
      case 'restartAll':
        if (amount % 2 === 0) this.#commit(restartIntent({ rolloutId: this.#rolloutId() }))
        break
      case 'pause':
        this.#commit(pauseIntent)
        break
      case 'resume':
        this.#commit(resumeIntent)
        break
      case 'batchUpdate':
        this.#commit(
          this.#update(pick, amount),
          scaleTo(amount % 12),
          this.#rollback(amount),
          this.#update(amount, pick),
          { kind: 'tick' },
        )
        break
      case 'crash':
        this.store.crash()
        break
      case 'unreach':
      case 'lose':
      case 'return':
        this.#workerLife(step, placeOf(pick), amount)
        break
      case 'drain':
      case 'undrain':
        this.#commit({ kind: step, worker: placeOf(pick).workerId })
        break
      case 'delete':
        // Rarely, or every history would be about deletion.
        if (amount % 10 === 0) this.#commit({ kind: 'delete', expectedRevision: null, actor: 'bob' })
        break
    }
  }

  #waiting(): Replica[] {
    return this.store.alive.filter((row) => row.state === 'PENDING' && row.notBefore === null)
  }

  #grantFor(row: Replica, pick: number) {
    const { hostId: host, workerId } = placeOf(pick)
    const number = host.at(-1) ?? ''
    this.#port++
    const ports = [{ name: 'http', port: this.#port, protocol: 'TCP' as const }]
    return grantOf(row.id, {
      hostId: host,
      workerId,
      hostName: `node${number}`,
      hostAddresses: [`10.0.0.${number}`],
      ports,
      lastPort: this.#port,
    })
  }

  /** No room, or no quota: a project's quota that shrinks or is raised reaches a service as holds and grants. */
  #noPlace(row: Replica, pick: number) {
    const until = pick % 3 === 0 ? this.ctx.now + 5_000 : null
    const why =
      pick % 2 === 0
        ? { reason: 'NO_CAPACITY' as const, message: 'No host has 100 mCPU free.' }
        : { reason: 'QUOTA' as const, message: 'Project default has 4 of 4 replicas.' }
    return { ...why, count: 1, since: this.ctx.now, until, replica: row.id }
  }

  #reporterOf(place: Place): Reporter {
    return { ...place, epoch: this.#epochs.get(place.workerId) ?? 1 }
  }

  #nextSequence({ workerId }: Place): number {
    const sequence = (this.#sequences.get(workerId) ?? 0) + 1
    this.#sequences.set(workerId, sequence)
    return sequence
  }

  /** A new epoch, whose reports count anew. */
  #raiseEpoch({ workerId }: Place): void {
    this.#epochs.set(workerId, (this.#epochs.get(workerId) ?? 1) + 1)
    this.#sequences.set(workerId, 0)
  }

  /** R13: however often ports are taken, no replica fails by it. */
  #takePorts(rows: readonly Replica[]): void {
    const failures = () => this.store.snapshot.slots.reduce((sum, slot) => sum + slot.failures, 0)
    const before = failures()
    this.#reportAll(rows.map((row) => ended(row, 'PORT_TAKEN')))
    check(failures() <= before, 'a port that is taken is no failure')
    for (const { id, state } of rows) {
      const after = this.store.rows.get(id)
      if (state !== 'STOPPING') check(after?.endReason !== 'START_FAILED', 'a port that is taken ends no replica')
    }
  }

  #reportAll(reports: readonly ReplicaReport[]): void {
    const intents: ServiceIntent[] = []
    for (const place of places) {
      const own = reports.filter((said) => this.store.snapshot.replicas.get(said.replica)?.workerId === place.workerId)
      if (own.length === 0) continue
      intents.push({
        kind: 'report',
        reporter: this.#reporterOf(place),
        sequence: this.#nextSequence(place),
        reports: own,
      })
    }
    this.#commit(...intents)
  }

  /** Reports of an old epoch change nothing. */
  #reportStale(reports: readonly ReplicaReport[]): void {
    const before = this.store.snapshot
    const due = this.#earliestTimer()
    for (const place of places) {
      const reporter = { ...this.#reporterOf(place), epoch: 0 }
      this.#commit({ kind: 'report', reporter, sequence: 0, reports })
    }
    if (!this.#edited && (due === null || due > this.ctx.now))
      check(this.store.snapshot === before, 'a stale report changes nothing')
  }

  #adopt(place: Place, amount: number): void {
    const own = this.store.alive.filter((row) => isOn(row, place.workerId))
    const { hostId: host } = place
    const running = own
      .filter((row, at) => row.startedAt !== null && (amount >> at) % 4 !== 0)
      .map((row) => reportOf(row))
    this.#raiseEpoch(place)
    const number = host.at(-1) ?? ''
    const addresses = amount % 5 === 0 ? [] : [`10.0.${amount % 2}.${number}`]
    this.#commit({
      kind: 'adopt',
      reporter: this.#reporterOf(place),
      host: { id: host, name: `node${number}`, addresses },
      running,
    })
    for (const row of own) {
      const after = this.store.rows.get(row.id)
      const isKept =
        running.some((said) => said.replica === row.id) ||
        (row.state === 'STARTING' && row.startedAt === null && row.start === 1)
      check(
        isKept === (after?.state !== 'ENDED') || this.store.snapshot.columns.deletedAt !== null,
        'what the worker no longer has has ended',
      )
    }
  }

  /** Of a few releases, so that content comes back; now and then with other replicas, settings, or paused from the start. */
  #update(pick: number, amount: number): UpdateIntent {
    return updateTo(`r${pick % 4}`, {
      rolloutId: this.#rolloutId(),
      replicas: amount % 3 === 0 ? amount % 12 : null,
      startPaused: amount % 7 === 0,
      settings: amount % 4 === 0 ? this.#limits(amount) : {},
    })
  }

  #limits(amount: number): UpdateIntent['settings'] {
    return { maxSurge: { count: amount % 4 }, maxUnavailable: { count: 1 + (amount % 3) }, minReadySeconds: amount % 6 }
  }

  /** Another revision of the profile: of the same content every second time. */
  #revise(pick: number): UpdateIntent {
    const { settings } = this.store.snapshot.columns
    const known = this.#target().content
    const content = pick % 2 === 0 ? known : { ...known, cpuMillis: 100 + (pick % 3) }
    return updateTo(null, { profile: profileRevision(pick % 5, { content, settings }), rolloutId: this.#rolloutId() })
  }

  /** To one by number every second time. */
  #rollback(pick: number): RollbackIntent {
    const numbers = [...this.store.versions.keys()]
    const to = pick % 2 === 0 ? (this.store.versions.get(numbers[pick % numbers.length] ?? 1) ?? null) : null
    return rollbackTo(to, { rolloutId: this.#rolloutId() })
  }

  /** Counted per life: the same history has the same ids. */
  #rolloutId(): RolloutId {
    return this.ctx.newId() as RolloutId
  }

  #target(): Version {
    const target = this.store.versions.get(this.store.snapshot.columns.versionNumber)
    if (target === undefined) throw new Error('Broken: the target has a row.')
    return target
  }

  /** The worker's lease is over; it is LOST, and comes back with another epoch; or it tells everything that it runs. */
  #workerLife(kind: 'unreach' | 'lose' | 'return', place: Place, amount: number): void {
    const own = this.store.alive.filter((row) => isOn(row, place.workerId))
    const others = this.store.alive.filter((row) => isPlaced(row) && !own.includes(row))
    if (kind === 'lose') this.#raiseEpoch(place)
    if (kind === 'return') this.#resync(place, (_row, at) => (amount >> at) % 4 !== 0)
    else this.#commit({ kind, worker: place.workerId })
    for (const row of others) {
      check(
        this.store.rows.get(row.id)?.hostReachable === row.hostReachable,
        'another worker is as reachable as it was',
      )
      check(kind !== 'lose' || this.store.rows.get(row.id)?.endReason !== 'HOST_LOST', 'another worker loses nothing')
    }
    for (const { id } of own) {
      const row = this.store.rows.get(id)
      check(kind !== 'unreach' || row?.ready === false, 'nothing on a silent worker is ready')
      check(kind !== 'lose' || row?.state === 'ENDED', 'nothing is left on a lost worker')
      check(
        kind !== 'return' || row?.hostReachable === true || row?.state === 'ENDED',
        'everything on a worker that is back can be reached',
      )
    }
  }

  /** A full report: of all that the worker was heard to run, but for what it has lost. */
  #resync(place: Place, has: (row: Replica, at: number) => boolean): void {
    const reports = this.store.alive
      .filter((row, at) => isOn(row, place.workerId) && row.startedAt !== null && has(row, at))
      .map((row) => reportOf(row, { ready: row.reportedReady }))
    this.#commit({
      kind: 'report',
      reporter: this.#reporterOf(place),
      sequence: this.#nextSequence(place),
      reports,
      full: true,
    })
  }

  #earliestTimer(): Instant | null {
    const { timers } = this.store.snapshot
    return timers.size === 0 ? null : Math.min(...timers.values())
  }

  #commit(...intents: ServiceIntent[]): void {
    this.#recording.commit(intents, this.ctx)
    let rest = intents
    do {
      const before = this.store.snapshot
      const { change, outcomes } = this.store.commit(this.ctx, ...rest)
      rest = rest.slice(outcomes.filter(({ kind }) => kind !== 'unfinished').length)
      checkSafety(before.replicas, change, this.ctx.now)
      checkInvariants(this.store, this.ctx)
    } while (rest.length > 0)
    this.#edited = false
  }
}

const scaleTo = (replicas: number): ServiceIntent => ({
  kind: 'scale',
  replicas,
  expectedRevision: null,

  actor: 'alice',
})

const ended = (row: Replica, endReason: ReplicaReport['endReason']): ReplicaReport =>
  reportOf(row, { state: 'ENDED', ready: false, endReason, exitCode: 1 })
