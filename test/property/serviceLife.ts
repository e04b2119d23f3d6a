import type { HostId, Instant, RolloutId, VersionId, WorkerId } from '../../src/model/id.ts'
import type { NewService, ReplicaReport, Reporter, ServiceIntent } from '../../src/model/intent.ts'
import { isActive, isPlaced } from '../../src/model/replica.ts'
import type { Replica } from '../../src/model/service.ts'
import { check, ServiceStore } from '../support/serviceStore.ts'
import { content, grantOf, hostId, type ManualContext, manualContext, newService, reportOf } from '../support/services.ts'
import type { Happening, History } from './serviceHistory.ts'
import { checkInvariants, checkSafety } from './serviceInvariants.ts'

/** Lives through a history, checking the invariants after every commit. */
export class ServiceLife {
  readonly ctx: ManualContext = manualContext()
  readonly store: ServiceStore
  readonly #sequences = new Map<HostId, number>()
  readonly #epochs = new Map<HostId, number>()
  #port = 20_000
  #edited = false

  constructor(told: History) {
    const service: NewService = newService({
      replicas: told.replicas,
      settings: told.settings,
      content: told.probed ? content() : content({ readiness: null }),
    })
    this.store = new ServiceStore(service, this.ctx)
    checkInvariants(this.store, this.ctx)
    for (const happening of told.happenings) this.#live(happening)
  }

  /** Everything becomes ready: it is placed, reported, and what stops ends. */
  becomeReady(): void {
    this.#edit({ paused: false })
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
        this.#reportAll(some(placed).map((row) => ended(row, (['EXITED', 'GAVE_UP', 'START_FAILED'] as const)[pick % 3] ?? 'EXITED')))
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
        this.#reportAll(some(placed, 2).map((row) => ended(row, 'PORT_TAKEN')))
        break
      case 'grant':
        this.#commit({ kind: 'grant', grants: some(this.#waiting(), 6).map((row) => this.#grantFor(row, pick)) })
        break
      case 'hold':
        this.#commit({
          kind: 'hold',
          holds: some(this.#waiting()).map((row) => ({ replica: row.id, blocker: this.#noCapacity(row, pick) })),
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
        this.#adopt(hostId(pick % 3), amount)
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
        this.#update(pick)
        break
      case 'pause':
        this.#edit({ paused: this.store.snapshot.rollout.finishedAt === null && pick % 2 === 0 })
        break
      case 'drain':
        this.#drain(some(alive.filter(isActive)))
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
    const number = pick % 3
    this.#port++
    const ports = [{ name: 'http', port: this.#port, protocol: 'TCP' as const }]
    return grantOf(row.id, {
      hostId: hostId(number),
      hostName: `node${number}`,
      hostAddresses: [`10.0.0.${number}`],
      ports,
      lastPort: this.#port,
    })
  }

  #noCapacity(row: Replica, pick: number) {
    const until = pick % 3 === 0 ? this.ctx.now + 5_000 : null
    return { reason: 'NO_CAPACITY' as const, message: 'No host has 100 mCPU free.', count: 1, since: this.ctx.now, until, replica: row.id }
  }

  #reporterOf(host: HostId): Reporter {
    return { workerId: `worker-of-${host}` as WorkerId, hostId: host, epoch: this.#epochs.get(host) ?? 1 }
  }

  #reportAll(reports: readonly ReplicaReport[]): void {
    const intents: ServiceIntent[] = []
    for (const host of [0, 1, 2].map(hostId)) {
      const own = reports.filter((said) => this.store.snapshot.replicas.get(said.replica)?.hostId === host)
      if (own.length === 0) continue
      const sequence = (this.#sequences.get(host) ?? 0) + 1
      this.#sequences.set(host, sequence)
      intents.push({ kind: 'report', reporter: this.#reporterOf(host), sequence, reports: own })
    }
    this.#commit(...intents)
  }

  /** Reports of an old epoch change nothing. */
  #reportStale(reports: readonly ReplicaReport[]): void {
    const before = this.store.snapshot
    const due = this.#earliestTimer()
    for (const host of [0, 1, 2].map(hostId)) {
      const reporter = { ...this.#reporterOf(host), epoch: 0 }
      this.#commit({ kind: 'report', reporter, sequence: 0, reports })
    }
    if (!this.#edited && (due === null || due > this.ctx.now)) check(this.store.snapshot === before, 'a stale report changes nothing')
  }

  #adopt(host: HostId, amount: number): void {
    const own = this.store.alive.filter((row) => row.hostId === host)
    const running = own.filter((row, at) => row.startedAt !== null && (amount >> at) % 4 !== 0).map((row) => reportOf(row))
    this.#epochs.set(host, (this.#epochs.get(host) ?? 1) + 1)
    this.#sequences.set(host, 0)
    const number = host.at(-1) ?? ''
    const addresses = amount % 5 === 0 ? [] : [`10.0.${amount % 2}.${number}`]
    this.#commit({ kind: 'adopt', reporter: this.#reporterOf(host), host: { id: host, name: `node${number}`, addresses }, running })
    for (const row of own) {
      const after = this.store.rows.get(row.id)
      const isKept =
        running.some((said) => said.replica === row.id) || (row.state === 'STARTING' && row.startedAt === null && row.start === 1)
      check(
        isKept === (after?.state !== 'ENDED') || this.store.snapshot.columns.deletedAt !== null,
        'what the worker no longer has has ended',
      )
    }
  }

  /** A new target, as an update would set it. */
  #update(pick: number): void {
    const { snapshot } = this.store
    if (snapshot.columns.deletionRequestedAt !== null) return
    const known = snapshot.versions.get(snapshot.columns.versionNumber)
    if (known === undefined) throw new Error('The target is known.')
    const number = snapshot.lastVersion + 1
    const back = pick % 4 === 0 ? [...snapshot.versions.values()][pick % snapshot.versions.size] : undefined
    const contentNumber = back?.contentNumber ?? number
    const version = { ...known, id: `version-${number}` as VersionId, number, contentNumber }
    const { rollout, columns } = snapshot
    const from = rollout.finishedAt === null ? rollout.fromVersion : rollout.toVersion
    const next = {
      ...rollout,
      id: `rollout-${rollout.number + 1}` as RolloutId,
      number: rollout.number + 1,
      fromVersion: from,
      toVersion: number,
      state: 'ROLLING' as const,
      finishedAt: null,
      bestAvailable: 0,
      leastOutdated: columns.activeReplicas,
      deadlineAt: this.ctx.now + rollout.progressDeadlineSeconds * 1000,
    }
    const versions = new Map([...snapshot.versions, [number, version] as const])
    this.store.snapshot = {
      ...snapshot,
      versions,
      lastVersion: number,
      rollout: next,
      columns: { ...columns, versionNumber: number, rolloutNumber: next.number },
    }
    this.#edited = true
    this.#commit({ kind: 'tick' })
  }

  #edit(columns: { paused: boolean }): void {
    const { snapshot } = this.store
    if (snapshot.columns.paused === columns.paused || snapshot.columns.deletionRequestedAt !== null) return
    this.store.snapshot = { ...snapshot, columns: { ...snapshot.columns, ...columns } }
    this.#edited = true
    this.#commit({ kind: 'tick' })
  }

  #drain(rows: readonly Replica[]): void {
    const { snapshot } = this.store
    const replicas = new Map(snapshot.replicas)
    for (const row of rows) {
      const leaving: Replica = { ...row, leaving: 'DRAIN' }
      replicas.set(row.id, leaving)
      this.store.rows.set(row.id, leaving)
    }
    this.store.snapshot = { ...snapshot, replicas }
    this.#edited = true
    this.#commit({ kind: 'tick' })
  }

  #earliestTimer(): Instant | null {
    const { timers } = this.store.snapshot
    return timers.size === 0 ? null : Math.min(...timers.values())
  }

  #commit(...intents: ServiceIntent[]): void {
    const before = this.store.snapshot
    const { change } = this.store.commit(this.ctx, ...intents)
    this.#edited = false
    checkSafety(before.replicas, change, this.ctx.now)
    checkInvariants(this.store, this.ctx)
  }
}

const scaleTo = (replicas: number): ServiceIntent => ({
  kind: 'scale',
  replicas,
  expectedRevision: null,
  maxReplicas: null,
  actor: 'alice',
})

const ended = (row: Replica, endReason: ReplicaReport['endReason']): ReplicaReport =>
  reportOf(row, { state: 'ENDED', ready: false, endReason, exitCode: 1 })
