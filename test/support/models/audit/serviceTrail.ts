import { isDeepStrictEqual } from 'node:util'
import type { EndpointAddress } from '../../../../src/model/endpoint.ts'
import type { ServiceFactData } from '../../../../src/model/fact.ts'
import type { ReplicaId } from '../../../../src/model/id.ts'
import type { ServiceColumns } from '../../../../src/model/service.ts'
import { resolveLimits } from '../../../../src/rules/rollout/limits.ts'

/** What the audit knows beside the facts. */
export interface Known {
  /** Why a replica is being or was stopped, or ended; undefined: it is not. */
  stopReason(replica: ReplicaId): string | undefined
  /** Its worker fell silent, and was not back before it ended. */
  isSilent(replica: ReplicaId): boolean
  /** Replicas of it leave, or left, a host that is drained. */
  isDrained(service: string): boolean
}

/** Not the controller's own doing: a user's word, or a host's end. */
const othersDoing = ['KILLED', 'SERVICE_DELETED', 'HOST_LOST']

/** One service as its facts tell it, from its creation on: what its columns and its table were at every revision. */
export class ServiceTrail {
  readonly table = new Map<string, EndpointAddress>()
  columns: ServiceColumns | null = null
  /** The most that were active at once. */
  highestActive = 0
  /** Facts that changed it. */
  changes = 0
  readonly #id: string
  readonly #ended = new Set<ReplicaId>()
  readonly #fault: (what: string) => void

  constructor(id: string, fault: (what: string) => void) {
    this.#id = id
    this.#fault = fault
  }

  /** Takes the next fact of the service: it must follow from the ones before, and keep the invariants (src/rules/README.md, "Invariants"). */
  take(data: ServiceFactData, known: Known): void {
    const before = this.columns
    for (const [name, was] of Object.entries(before === null ? {} : data.before)) {
      const is = before?.[name as keyof ServiceColumns]
      if (!isDeepStrictEqual(is, was))
        this.#fault(`${name} was ${JSON.stringify(was)} to the commit, and ${JSON.stringify(is)}`)
    }
    const after = { ...before, ...data.after } as ServiceColumns
    this.columns = after
    this.changes++
    this.highestActive = Math.max(this.highestActive, after.activeReplicas)
    if (after.deletionRequestedAt === null) {
      this.#judgeActive(before?.activeReplicas ?? 0, after, known)
      this.#judgeAvailable(before?.availableReplicas ?? 0, after, data, known)
    }
    this.#takeTable(data)
    this.#judgeTable(after)
  }

  #judgeActive(before: number, { activeReplicas, desiredReplicas: n, settings }: ServiceColumns, known: Known): void {
    const { maxSurge } = resolveLimits(n, settings)
    // R15: s is at least 1 for a drain.
    const most = Math.max(before, n + (known.isDrained(this.#id) ? Math.max(1, maxSurge) : maxSurge))
    if (activeReplicas > most) this.#fault(`${activeReplicas} are active, more than ${most}`)
  }

  /** The controller's own stops never take available below min(before, n − u). */
  #judgeAvailable(before: number, after: ServiceColumns, { upserted }: ServiceFactData, known: Known): void {
    const stopped = new Set(
      upserted
        .filter(({ id, terminating }) => terminating && !this.table.get(id)?.terminating)
        .map(({ replicaId }) => replicaId),
    )
    // One whose worker fell silent in the same commit was not available any more.
    const silent = new Set(
      upserted.filter((is) => !is.terminating && !is.ready && this.table.get(is.id)?.ready).map(({ host }) => host),
    )
    const isSilent = (replica: ReplicaId) =>
      known.isSilent(replica) || upserted.some(({ replicaId, host }) => replicaId === replica && silent.has(host))
    const own = [...stopped].filter(
      (replica) => !isSilent(replica) && !othersDoing.includes(known.stopReason(replica) ?? 'KILLED'),
    ).length
    const taken = Math.min(Math.max(0, before - after.availableReplicas), own)
    const least = after.desiredReplicas - resolveLimits(after.desiredReplicas, after.settings).maxUnavailable
    if (after.availableReplicas < Math.min(after.availableReplicas + taken, least))
      this.#fault(
        `the controller itself took ${taken} and left ${after.availableReplicas} available, fewer than ${least}`,
      )
  }

  #takeTable({ upserted, removed, replaced, ended }: ServiceFactData): void {
    for (const address of replaced)
      if (!isDeepStrictEqual(this.table.get(address.id), address))
        this.#fault(`${address.id} was not in the table as the fact has it`)
    for (const id of removed) if (!this.table.delete(id)) this.#fault(`${id} left the table and was not in it`)
    for (const address of upserted) {
      if (this.#ended.has(address.replicaId)) this.#fault(`${address.id} is back in the table after its end`)
      this.table.set(address.id, address)
    }
    for (const replica of ended) this.#ended.add(replica)
  }

  #judgeTable({ readyReplicas }: ServiceColumns): void {
    const listed = [...this.table.values()]
    for (const { id, replicaId } of listed)
      if (this.#ended.has(replicaId)) this.#fault(`${id} is in the table, and its replica has ended`)
    const ready = new Map(
      listed.filter((address) => address.ready).map((address) => [address.replicaId, address.index]),
    )
    if (new Set(ready.values()).size !== ready.size)
      this.#fault(`two ready replicas have one index: ${JSON.stringify([...ready])}`)
    if (ready.size !== readyReplicas)
      this.#fault(`${ready.size} replicas are ready in the table, ${readyReplicas} in the columns`)
  }
}
