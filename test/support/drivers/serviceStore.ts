import { isDeepStrictEqual } from 'node:util'
import { rowsPerCommit } from '../../../src/model/bounds.ts'
import type { EndpointAddress } from '../../../src/model/endpoint.ts'
import type { Room } from '../../../src/model/host.ts'
import type { HostId, ReplicaId } from '../../../src/model/id.ts'
import type { NewService, ServiceIntent } from '../../../src/model/intent.ts'
import type { CommitOutcome } from '../../../src/model/outcome.ts'
import { isAlive } from '../../../src/model/replica.ts'
import type { Replica, Rollout, ServiceSnapshot, Version } from '../../../src/model/service.ts'
import { closeDraft } from '../../../src/rules/commit/close.ts'
import { decide } from '../../../src/rules/commit/decide.ts'
import type { ServiceChange } from '../../../src/rules/draft/change.ts'
import type { Context } from '../../../src/rules/draft/context.ts'
import { isFull, openDraft } from '../../../src/rules/draft/draft.ts'
import { createDraft } from '../../../src/rules/service/create.ts'
import { sameContent } from '../../../src/rules/version/content.ts'

/**
 * Keeps one service as a database would: it applies each change's rows and checks that they make the snapshot that the change promises. What
 * follows from other parts of a change (endpoint table, quota, hosts) is kept by its differences only, to be compared with the rows.
 */
export class ServiceStore {
  snapshot: ServiceSnapshot
  /** All rows ever, ended ones too. */
  readonly rows = new Map<ReplicaId, Replica>()
  readonly versions = new Map<number, Version>()
  readonly rollouts = new Map<number, Rollout>()
  readonly table = new Map<string, EndpointAddress>()
  /** Ports that a lost worker may use still. */
  readonly kept = new Set<string>()
  readonly used = new Map<HostId, { cpuMillis: number; memoryMiB: number; ports: Set<string> }>()
  usedQuota = 0
  readonly changes: ServiceChange[] = []
  #revision = 0n

  readonly mostRows: number
  /** What the next commits know of the room on hosts and in projects. */
  room: Room | null = null

  /** `mostRows`: that a commit may write. */
  constructor(service: NewService, ctx: Context, mostRows: number = rowsPerCommit) {
    this.mostRows = mostRows
    const draft = createDraft(service, null, 'alice', ctx, mostRows)
    if ('code' in draft) throw new Error(draft.message)
    this.snapshot = draft.base
    this.#accept(closeDraft(draft, ctx))
  }

  /** One commit of the intents, decided one after the other: of as many as it has room for, the last of which may be unfinished. */
  commit(ctx: Context, ...intents: ServiceIntent[]): { change: ServiceChange; outcomes: CommitOutcome[] } {
    const draft = openDraft(this.snapshot, this.mostRows)
    draft.room = this.room
    const outcomes: CommitOutcome[] = []
    for (const intent of intents) {
      if (isFull(draft) || outcomes.at(-1)?.kind === 'unfinished') break
      outcomes.push(decide(draft, intent, ctx))
    }
    const change = closeDraft(draft, ctx)
    this.#accept(change)
    return { change, outcomes }
  }

  get alive(): Replica[] {
    return [...this.snapshot.replicas.values()]
  }

  /** The snapshot as another server, or this one after a crash, would load it from the rows. */
  loaded(): ServiceSnapshot {
    const { snapshot, versions } = this
    const { columns, rollout } = snapshot
    const { versionNumber, completedVersion, previousVersion, provenVersion, rolloutNumber } = columns
    const replicas = [...this.rows.values()].filter(isAlive).sort((a, b) => (a.id < b.id ? -1 : 1))
    const { fromVersion, toVersion } = rollout
    const named = new Set([versionNumber, completedVersion, previousVersion, provenVersion, fromVersion, toVersion])
    for (const row of replicas) named.add(row.versionNumber)
    const current = this.rollouts.get(rolloutNumber)
    if (current === undefined) throw new Error('Broken: the current rollout has a row.')
    return {
      ...snapshot,
      versions: new Map([...versions].filter(([number]) => named.has(number)).sort(([a], [b]) => a - b)),
      lastVersion: Math.max(...versions.keys()),
      contents: new Map(
        [...versions.values()]
          .filter((row) => row.number === row.contentNumber)
          .map((row) => [row.contentDigest, row.number]),
      ),
      replicas: new Map(replicas.map((row) => [row.id, row])),
      rollout: current,
    }
  }

  /** The server crashes between two commits: all it knew is read again. */
  crash(): void {
    this.snapshot = this.loaded()
  }

  #accept(change: ServiceChange): void {
    const before = this.snapshot
    check(change.guard === before.guard, 'the change names the guard it was decided on')
    check(
      change.insertedReplicas.length + change.updatedReplicas.length <= this.mostRows,
      'a commit keeps to the cap of rows',
    )
    this.#applyRows(change)
    this.#applyHistory(change)
    const { next } = change
    this.#checkAlive(next.replicas)
    check(isDeepStrictEqual(next.columns, change.columns), 'next has the columns')
    check(isDeepStrictEqual(next.rollout, change.rollouts.at(-1) ?? before.rollout), 'next has the rollout')
    check(isDeepStrictEqual(new Map(next.timers), this.#timersAfter(change)), 'next has the timers')
    this.#applyDifferences(change)
    if (change.facts.length === 0) {
      check(
        next.replicas === before.replicas &&
          isDeepStrictEqual({ ...next, replicas: null }, { ...before, replicas: null }),
        'without facts nothing has changed',
      )
      return
    }
    check(
      change.facts.every((fact, at) => (fact.kind === 'change') === (at === change.facts.length - 1)),
      'the change is the last fact',
    )
    this.#revision += BigInt(change.facts.length)
    const spec =
      change.specFact === null ? before.specRevision : this.#revision - BigInt(change.facts.length - change.specFact)
    this.snapshot = { ...next, guard: before.guard + 1, revision: this.#revision, specRevision: spec }
    this.changes.push(change)
    const loaded = this.loaded()
    check(isDeepStrictEqual(loaded.versions, next.versions), 'next has the versions that would be loaded')
    check(
      isDeepStrictEqual(loaded.contents, next.contents) && loaded.lastVersion === next.lastVersion,
      'next has the whole history',
    )
  }

  #applyRows(change: ServiceChange): void {
    const written = new Set<ReplicaId>()
    for (const row of [...change.insertedReplicas, ...change.updatedReplicas]) {
      check(!written.has(row.id), 'each row is written once')
      written.add(row.id)
    }
    for (const row of change.insertedReplicas)
      check(!this.rows.has(row.id) && isAlive(row), 'an inserted row is new and alive')
    for (const row of change.updatedReplicas) {
      const before = this.rows.get(row.id)
      check(before !== undefined && isAlive(before), 'an updated row is known and alive')
    }
    for (const row of [...change.insertedReplicas, ...change.updatedReplicas]) this.rows.set(row.id, row)
  }

  #applyHistory(change: ServiceChange): void {
    for (const version of change.insertedVersions) {
      check(!this.versions.has(version.number) && version.number === this.versions.size + 1, 'version numbers count up')
      check(
        version.contentNumber ===
          ([...this.versions.values()].find((row) => sameContent(row.content, version.content)) ?? version).number,
        'contentNumber is the lowest number with equal content',
      )
      this.versions.set(version.number, version)
    }
    for (const rollout of change.rollouts) {
      const before = this.rollouts.get(rollout.number)
      check(
        before === undefined ||
          ((before.finishedAt === null || before.watchUntil !== null) && before.id === rollout.id),
        'a rollout that has finished and is not watched is not written again',
      )
      this.rollouts.set(rollout.number, rollout)
    }
    for (const { number, finishedAt } of this.rollouts.values()) {
      check(finishedAt !== null || number === change.columns.rolloutNumber, 'only the current rollout is unfinished')
    }
  }

  /** The rows of `next` are the very rows that were written. */
  #checkAlive(next: ReadonlyMap<ReplicaId, Replica>): void {
    let last = ''
    for (const [id, row] of next) {
      check(this.rows.get(id) === row && isAlive(row), 'next holds the alive rows')
      check(last < id, 'next holds them in the order of their ids')
      last = id
    }
    let alive = 0
    for (const row of this.rows.values()) if (isAlive(row)) alive++
    check(alive === next.size, 'next holds every alive row')
  }

  #timersAfter(change: ServiceChange) {
    const timers = new Map(this.snapshot.timers)
    for (const kind of change.timers.deleted) timers.delete(kind)
    for (const [kind, dueAt] of change.timers.upserted) timers.set(kind, dueAt)
    return timers
  }

  #applyDifferences(change: ServiceChange): void {
    this.usedQuota += change.quota.delta
    for (const use of change.hosts) {
      const used = this.used.get(use.hostId) ?? { cpuMillis: 0, memoryMiB: 0, ports: new Set() }
      this.used.set(use.hostId, used)
      used.cpuMillis += use.cpuMillis
      used.memoryMiB += use.memoryMiB
      for (const port of [...use.portsReleased, ...use.portsQuarantined]) {
        check(used.ports.delete(`${port.port}/${port.protocol}/${port.replicaId}`), 'a port that is released was held')
      }
      for (const port of use.portsKept) {
        check(used.ports.delete(`${port.port}/${port.protocol}/${port.replicaId}`), 'a port that is kept was held')
        check(
          port.workerId !== null && this.rows.get(port.replicaId)?.endReason !== null,
          'a port is kept for the worker whose replica ended',
        )
        this.kept.add(`${use.hostId} ${port.port}/${port.protocol}`)
      }
      for (const port of use.portsTaken) {
        const key = `${port.port}/${port.protocol}`
        check(!this.kept.has(`${use.hostId} ${key}`), `port ${key} is not kept for a lost worker when it is taken`)
        check(![...used.ports].some((held) => held.startsWith(`${key}/`)), `port ${key} is free when it is taken`)
        used.ports.add(`${key}/${port.replicaId}`)
      }
    }
    for (const fact of change.facts) {
      if (fact.kind !== 'change') continue
      for (const id of fact.data.removed) check(this.table.delete(id), 'an address that is removed was listed')
      for (const address of fact.data.upserted) this.table.set(address.id, address)
    }
  }
}

export function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`Broken: ${what}.`)
}
