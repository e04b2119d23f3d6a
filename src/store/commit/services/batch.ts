import type { ServiceColumns } from '../../../model/service.ts'
import type { HostUse, ServiceChange } from '../../../rules/draft/change.ts'
import {
  encodeInstant,
  encodeRow,
  replicaColumns,
  rolloutColumns,
  serviceColumns,
  slotColumns,
  timerColumns,
  versionColumns,
} from '../../rows/columns.ts'
import type { Remember } from '../outcome.ts'
import { type Input, type RowOf, type Section, statementFor } from './statement.ts'

/** One service's part of a batch. */
export interface BatchItem {
  readonly change: ServiceChange
  /** The keys of the intents that were done, which are written with them. */
  readonly remember: readonly Remember[]
}

export interface EncodedBatch {
  readonly text: string
  /** The batch's id, then a JSON array for each input. */
  readonly parameters: readonly string[]
}

/** The rows of each input. */
type Rows = { readonly [I in Exclude<Input, 'services' | 'slots'>]: RowOf<I>[] } & {
  /** Only the guard is compared of a service that is not written. */
  readonly services: (RowOf<'services'> | Omit<RowOf<'services'>, 'spec' | keyof ServiceColumns>)[]
  /** The key of a slot that is deleted. */
  readonly slots: (RowOf<'slots'> | Pick<RowOf<'slots'>, 'ord' | 'index' | 'contentNumber'>)[]
}

/** Says whether rows are written, and not only the guard compared. */
export function isWritten(change: ServiceChange): boolean {
  return change.facts.length > 0 || hasRows(change)
}

function hasRows(change: ServiceChange): boolean {
  const { slots, timers } = change
  return (
    change.insertedReplicas.length > 0 ||
    change.updatedReplicas.length > 0 ||
    change.insertedVersions.length > 0 ||
    change.rollouts.length > 0 ||
    slots.upserted.length + slots.deleted.length > 0 ||
    timers.upserted.size + timers.deleted.length > 0 ||
    change.hosts.length > 0 ||
    change.quota.delta !== 0
  )
}

/**
 * Returns the statement and its parameters. A service's position in `items` is its `ord` in the answer. A service that
 * gets a version keeps `versionsKept` of them; null keeps all.
 */
export function encodeBatch(id: string, items: readonly BatchItem[], versionsKept: number | null): EncodedBatch {
  const rows: Rows = {
    services: [],
    facts: [],
    replicas: [],
    rollouts: [],
    timers: [],
    slots: [],
    versions: [],
    created: [],
    hosts: [],
    ports: [],
    fences: [],
    workerPreconditions: [],
    keys: [],
  }
  for (const [ord, item] of items.entries()) addItem(rows, item, ord, versionsKept)
  const needed = new Set<Section>()
  if (rows.rollouts.length + rows.timers.length + rows.slots.length > 0) needed.add('settled')
  if (rows.versions.length > 0) needed.add('versions')
  if (rows.created.length > 0) needed.add('created')
  if (
    rows.hosts.length + rows.fences.length + rows.workerPreconditions.length > 0 ||
    items.some(({ change }) => change.quota.delta !== 0)
  )
    needed.add('resources')
  if (rows.keys.length > 0) needed.add('keys')
  const { text, inputs } = statementFor(needed)
  return { text, parameters: [id, ...inputs.map((input) => JSON.stringify(rows[input]))] }
}

function addItem(rows: Rows, { change, remember }: BatchItem, ord: number, versionsKept: number | null): void {
  const written = isWritten(change)
  const service = {
    ord,
    id: change.id,
    guard: change.guard,
    written,
    facts: change.facts.length,
    project: change.quota.projectId,
    limited: change.limit !== null,
    limit: change.limit?.maxReplicas ?? null,
  }
  for (const { subject, operation, key, inputHash, result } of remember) {
    rows.keys.push({ ord, subject, operation, key, hash: inputHash, result })
  }
  if (!written) {
    rows.services.push({ ...service, quota: 0 })
    for (const fence of change.fences) rows.fences.push({ ord, worker: fence.workerId, epoch: fence.epoch })
    return
  }
  rows.services.push({
    ...service,
    spec: change.specFact,
    quota: change.quota.delta,
    ...encodeRow(serviceColumns, change.columns),
  })
  if (change.created) {
    const { name, owner, createdAt } = change.created
    rows.created.push({ ord, name, owner, createdAt: encodeInstant(createdAt) })
  }
  change.facts.forEach((fact, index) => {
    const { event } = fact
    rows.facts.push({
      ord,
      position: index + 1,
      kind: fact.kind,
      data: fact.kind === 'eventOnly' ? null : fact.data,
      event: event?.kind,
      message: event?.message,
      actor: event?.actor,
      cause: event?.why,
      replica: event?.replicaId,
      host: event?.hostId,
      count: event?.count,
    })
  })
  for (const replica of change.insertedReplicas)
    rows.replicas.push({ ord, fresh: true, ...encodeRow(replicaColumns, replica) })
  for (const replica of change.updatedReplicas)
    rows.replicas.push({ ord, fresh: false, ...encodeRow(replicaColumns, replica) })
  for (const version of change.insertedVersions)
    rows.versions.push({ ord, kept: versionsKept, ...encodeRow(versionColumns, version) })
  for (const rollout of change.rollouts) rows.rollouts.push({ ord, ...encodeRow(rolloutColumns, rollout) })
  for (const slot of change.slots.upserted) rows.slots.push({ ord, ...encodeRow(slotColumns, slot) })
  for (const { index, contentNumber } of change.slots.deleted) rows.slots.push({ ord, index, contentNumber })
  for (const [kind, dueAt] of change.timers.upserted)
    rows.timers.push({ ord, ...encodeRow(timerColumns, { kind, dueAt }) })
  for (const kind of change.timers.deleted) rows.timers.push({ ord, kind, dueAt: null })
  for (const use of change.hosts) addHostUse(rows, use, ord)
  for (const { workerId: worker, reachability, draining, addresses } of change.workerPreconditions)
    rows.workerPreconditions.push({ ord, worker, reachability, draining, addresses })
  for (const fence of change.fences) rows.fences.push({ ord, worker: fence.workerId, epoch: fence.epoch })
}

function addHostUse(rows: Rows, use: HostUse, ord: number): void {
  const { portsTaken, portsReleased, portsQuarantined, portsKept } = use
  rows.hosts.push({
    ord,
    host: use.hostId,
    allocation: use.allocation,
    cpu: use.cpuMillis,
    memory: use.memoryMiB,
    ports: portsTaken.length - portsReleased.length - portsQuarantined.length - portsKept.length,
    bump: use.allocation !== null || portsQuarantined.length + portsKept.length > 0,
    lastPort: use.lastPort,
  })
  const acts = [
    ['take', portsTaken],
    ['release', portsReleased],
  ] as const
  const held = { ord, host: use.hostId }
  for (const [act, ports] of acts) {
    for (const { port, protocol, replicaId: replica } of ports)
      rows.ports.push({ ...held, port, protocol, replica, worker: null, watched: false, act })
  }
  for (const { port, protocol, replicaId: replica, watched } of portsQuarantined)
    rows.ports.push({ ...held, port, protocol, replica, worker: null, watched, act: 'quarantine' })
  for (const { port, protocol, replicaId: replica, workerId: worker } of portsKept) {
    rows.ports.push({ ...held, port, protocol, replica, worker, watched: false, act: 'keep' })
  }
}
