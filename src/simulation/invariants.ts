import type { EndpointAddress } from '../model/endpoint.ts'
import type { ReplicaId, ServiceId } from '../model/id.ts'
import { isActive, isAlive, isPlaced, leavesWhenReplaced } from '../model/replica.ts'
import type { Replica, ServiceSnapshot } from '../model/service.ts'
import type { ServiceChange } from '../rules/draft/change.ts'
import { addressesOf, sameAddress } from '../rules/endpoint/endpoint.ts'
import { resolveLimits } from '../rules/rollout/limits.ts'

// These invariants hold for a service after every commit, whatever happened. A check looks only at what the commit
// changed, so it costs no more than the commit: it updates its own counts, indexes and endpoint table by the
// differences and compares them with the rules' result.

/** A row before and after a commit; `before` is null where the commit created it. */
export interface ChangedRow {
  readonly before: Replica | null
  readonly after: Replica
}

type AddFault = (fault: string) => void

/** Checks the invariants of one service. */
export class ServiceWatch {
  readonly #activeByIndex = new Map<number, ReplicaId>()
  readonly #table = new Map<string, EndpointAddress>()
  readonly #counts = { active: 0, running: 0, ready: 0, available: 0, stopping: 0, quota: 0, draining: 0 }
  /** The fewest that were available since all were for the first time; null when they never were. */
  lowestAvailable: number | null
  highestActive: number

  constructor(snapshot: ServiceSnapshot) {
    for (const row of snapshot.replicas.values()) {
      if (isActive(row)) this.#activeByIndex.set(row.index, row.id)
      this.#count(row, 1)
      for (const address of addressesIn(snapshot, row)) this.#table.set(address.id, address)
    }
    const { available } = this.#counts
    this.lowestAvailable = available >= snapshot.columns.desiredReplicas && snapshot.guard >= 0 ? available : null
    this.highestActive = this.#counts.active
  }

  /** How many rows hold quota. */
  get quota(): number {
    return this.#counts.quota
  }

  /** Checks a commit that was accepted, and adds a sentence for everything it broke. */
  check(
    before: ServiceSnapshot,
    after: ServiceSnapshot,
    change: ServiceChange,
    rows: readonly ChangedRow[],
    addFault: AddFault,
  ): void {
    this.#checkIndexes(rows, addFault)
    const drained = this.#counts.draining > 0
    for (const row of rows) {
      if (row.before !== null) this.#count(row.before, -1)
      this.#count(row.after, 1)
      checkRow(row, addFault)
    }
    this.#checkCounts(after, addFault)
    this.#checkTable(after, change, rows, addFault)
    checkLimits(before, after, rows, drained || this.#counts.draining > 0, addFault)
    const { activeReplicas, availableReplicas, desiredReplicas } = after.columns
    if (this.lowestAvailable !== null) this.lowestAvailable = Math.min(this.lowestAvailable, availableReplicas)
    else if (availableReplicas >= desiredReplicas) this.lowestAvailable = availableReplicas
    this.highestActive = Math.max(this.highestActive, activeReplicas)
  }

  #checkIndexes(rows: readonly ChangedRow[], addFault: AddFault): void {
    for (const { before } of rows) {
      if (before !== null && isActive(before) && this.#activeByIndex.get(before.index) === before.id) {
        this.#activeByIndex.delete(before.index)
      }
    }
    for (const { after } of rows) {
      if (!isActive(after)) continue
      if (this.#activeByIndex.has(after.index)) addFault(`two active replicas have index ${after.index}`)
      this.#activeByIndex.set(after.index, after.id)
    }
  }

  #count(row: Replica, by: number): void {
    if (!isAlive(row)) return
    const counts = this.#counts
    if (isActive(row)) counts.active += by
    else counts.stopping += by
    if (isActive(row) && leavesWhenReplaced(row)) counts.draining += by
    if (row.state === 'RUNNING') counts.running += by
    if (row.ready) counts.ready += by
    if (row.available) counts.available += by
    if (row.holdsQuota) counts.quota += by
  }

  #checkCounts({ columns }: ServiceSnapshot, addFault: AddFault): void {
    const counts = this.#counts
    const pairs = [
      ['active', columns.activeReplicas, counts.active],
      ['running', columns.runningReplicas, counts.running],
      ['ready', columns.readyReplicas, counts.ready],
      ['available', columns.availableReplicas, counts.available],
      ['stopping', columns.stoppingReplicas, counts.stopping],
    ] as const
    for (const [name, stored, is] of pairs)
      if (stored !== is) addFault(`the service counts ${stored} ${name} replicas, and ${is} are`)
  }

  /** At every revision the table equals what follows from the rows. */
  #checkTable(after: ServiceSnapshot, change: ServiceChange, rows: readonly ChangedRow[], addFault: AddFault): void {
    for (const fact of change.facts) {
      if (fact.kind !== 'change') continue
      for (const id of fact.data.removed)
        if (!this.#table.delete(id)) addFault(`address ${id} leaves the table and was not in it`)
      for (const address of fact.data.upserted) this.#table.set(address.id, address)
    }
    for (const { before, after: row } of rows) {
      const listed = isAlive(row) ? addressesIn(after, row) : []
      for (const address of listed) {
        const known = this.#table.get(address.id)
        if (known === undefined || !sameAddress(known, address))
          addFault(`the table does not show replica ${row.index} as it is`)
      }
      for (const port of before?.ports ?? []) {
        const id = `${row.id}:${port.name}:${before?.start ?? 0}`
        if (this.#table.has(id) && !listed.some((address) => address.id === id))
          addFault(`the table shows replica ${row.index}, which has left`)
      }
    }
  }
}

function addressesIn(snapshot: ServiceSnapshot, row: Replica): EndpointAddress[] {
  return row.hostId === null ? [] : addressesOf(row, snapshot.hosts.get(row.hostId) ?? null)
}

function checkRow({ before, after }: ChangedRow, addFault: AddFault): void {
  if (before !== null && !isAlive(before)) addFault(`replica ${after.index} is written after its end`)
  if (!isAlive(after)) return
  const explained = isPlaced(after)
    ? after.blocker === null && after.holdsQuota
    : after.blocker !== null && after.ports.length === 0
  if (!explained) addFault(`replica ${after.index} is neither on a host nor has it a blocker`)
  if (after.ready && (after.state !== 'RUNNING' || !after.reportedReady || after.readySince === null)) {
    addFault(`replica ${after.index} is ready, and R9 does not hold`)
  }
  if (after.available && (!after.ready || after.availableSince === null))
    addFault(`replica ${after.index} is available, and R9 does not hold`)
}

/**
 * The controller's own stops never take available below min(before, n − u), and its starts never take active above
 * max(before, n + s). While a replica leaves for a drain, s is at least 1 (R15).
 */
function checkLimits(
  before: ServiceSnapshot,
  after: ServiceSnapshot,
  rows: readonly ChangedRow[],
  drained: boolean,
  addFault: AddFault,
): void {
  const { columns } = after
  if (columns.deletionRequestedAt !== null) return
  const n = columns.desiredReplicas
  const { maxSurge, maxUnavailable } = resolveLimits(n, columns.settings)
  const available = columns.availableReplicas
  let stopped = 0
  for (const { before: was, after: is } of rows) {
    const own = is.stopReason !== null && is.stopReason !== 'KILLED'
    // A replica whose worker fell silent in the same commit was not available any more.
    const served = was?.available === true && is.hostReachable && is.reportedReady
    if (own && served && was.stopReason === null) stopped++
  }
  if (available < Math.min(available + stopped, n - maxUnavailable)) {
    addFault(
      `${stopped} available replicas were stopped, which leaves ${available}: fewer than ${n} − ${maxUnavailable}`,
    )
  }
  const most = Math.max(before.columns.activeReplicas, n + Math.max(maxSurge, drained ? 1 : 0))
  if (columns.activeReplicas > most)
    addFault(`${columns.activeReplicas} replicas are active: more than ${n} + ${maxSurge}`)
}

/**
 * The sentence of a broken invariant. The simulation itself checks what holds over all services of a project or host.
 */
export interface Fault {
  readonly at: number
  readonly serviceId: ServiceId | null
  readonly message: string
}
