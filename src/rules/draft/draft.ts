import type { EventKind } from '../../generated/prisma/enums.ts'
import { rowsPerCommit } from '../../model/bounds.ts'
import type { HostId, Instant, ReplicaId, WorkerId } from '../../model/id.ts'
import { isAlive } from '../../model/replica.ts'
import type { HostView, Replica, Rollout, ServiceColumns, ServiceSnapshot, Slot, Version } from '../../model/service.ts'
import type { WorkerPrecondition } from './change.ts'
import { DraftRows, ReplicaRows } from './replicaRows.ts'
import { type SlotKey, slotKey } from './slot.ts'

/** Something that happened to one replica or to several alike: one event tells of all of them. */
export interface DraftEvent {
  readonly kind: EventKind
  readonly actor: string
  /** What happened, without the subject: "is ready". Null: `message` says all. */
  readonly predicate: { readonly one: string; readonly many: string } | null
  readonly message: string
  /** Where all of it happened. */
  hostId: HostId | null
  readonly replicas: { readonly id: ReplicaId; readonly index: number }[]
}

/**
 * What a commit would make of a service: the snapshot with the changes over it. Copy-on-write: whatever the snapshot holds stays as it is.
 * Intents change the draft one after the other; `closeDraft` settles the rules once for all of them and tells the difference.
 */
export interface Draft {
  readonly base: ServiceSnapshot
  /** The service is created by this commit. */
  readonly created: boolean
  /** A user's change of the spec is in the draft: its new specRevision is known only after the commit. */
  specChanged: boolean
  /** Goals as they are now; what is derived of them (counts, status, blockers) is as in the base until the draft is closed. */
  /** Rows that the commit may write. */
  readonly mostRows: number
  columns: ServiceColumns
  /** Alive rows. The base's own until the first write. */
  alive: ReplicaRows
  /** Every row that was written, ended ones too, as it is now. */
  readonly touched: Map<ReplicaId, Replica>
  rollout: Rollout
  /** Rollouts that were left before they were complete (R5, R6), in order. */
  readonly left: Rollout[]
  slots: Map<SlotKey, Slot>
  readonly insertedVersions: Version[]
  /** Hosts that a grant or a registration brought. */
  readonly hosts: Map<HostId, HostView>
  /** What grants take: the host's allocation that was decided on, and its next port cursor. */
  readonly granted: Map<HostId, { readonly allocation: number; readonly lastPort: number }>
  /** Rows whose ports could not be bound (R13). */
  readonly quarantined: Set<ReplicaId>
  /** Rows that ended with the loss of their worker: it may use their ports still (R15). */
  readonly lost: Set<ReplicaId>
  readonly fences: { readonly workerId: WorkerId; readonly epoch: number }[]
  /** How workers must stand at the commit. */
  readonly workerPreconditions: WorkerPrecondition[]
  /** What happened, in order. */
  readonly events: DraftEvent[]
  /** Position (1, 2, …) in `notes` of the last change of the spec. */
  specEvent: number | null
  /** The desired replicas before a scale in this commit (R4). */
  grownFrom: number | null
  /** A scale, new limits or a new target: the rollout's marks start anew (R8). */
  rearmed: boolean
  /** Something waits that placement has not seen like this. */
  wakesPlacement: boolean
  /** A growth was judged by the project's limit, so the commit compares the limit with the database (R17). */
  comparesLimit: boolean
  /** The cap of rows cut the rules short: they go on at once, in another commit. */
  capped: boolean
}

/** A draft over `snapshot`, with nothing in it, that has room for `mostRows`. */
export function openDraft(snapshot: ServiceSnapshot, mostRows: number = rowsPerCommit): Draft {
  return draftOver(snapshot, false, mostRows)
}

export function draftOver(base: ServiceSnapshot, created: boolean, mostRows: number): Draft {
  return {
    base,
    mostRows,
    created,
    specChanged: false,
    columns: base.columns,
    alive: ReplicaRows.of(base.replicas),
    touched: new Map(),
    rollout: base.rollout,
    left: [],
    slots: new Map(base.slots.map((slot) => [slotKey(slot.index, slot.contentNumber), slot])),
    insertedVersions: [],
    hosts: new Map(),
    granted: new Map(),
    quarantined: new Set(),
    lost: new Set(),
    fences: [],
    workerPreconditions: [],
    events: [],
    specEvent: null,
    grownFrom: null,
    rearmed: false,
    wakesPlacement: false,
    comparesLimit: false,
    capped: false,
  }
}

/** Writes a row. An ended one leaves the alive ones. */
export function put(draft: Draft, row: Replica): void {
  const alive = writable(draft)
  if (isAlive(row)) alive.set(row)
  else alive.delete(row.id)
  draft.touched.set(row.id, row)
}

/** Forgets a row that this draft created: it is not written. */
export function drop(draft: Draft, row: Replica): void {
  writable(draft).delete(row.id)
  draft.touched.delete(row.id)
}

/** How many rows more the commit may write. */
export function roomIn(draft: Draft): number {
  return Math.max(0, draft.mostRows - draft.touched.size)
}

/** Whether the row may be written, with others that follow from it: `rows` in all. What the commit writes anyway takes no room again. */
export function hasRoom(draft: Draft, id: ReplicaId, rows = 1): boolean {
  return roomIn(draft) >= (draft.touched.has(id) ? rows - 1 : rows)
}

/** There is no room for a row and its replacement: another intent is for the next commit. */
export function isFull(draft: Draft): boolean {
  return roomIn(draft) < 2
}

export function isCreatedHere(draft: Draft, id: ReplicaId): boolean {
  return !draft.base.replicas.has(id)
}

/** The service's version of that number. */
export function versionOf(draft: Draft, number: number): Version {
  const version =
    draft.insertedVersions.find((inserted) => inserted.number === number) ?? draft.base.versions.get(number)
  if (version === undefined)
    throw new Error(`The snapshot of service ${draft.base.id} lacks version ${number}, which one of its rows names.`)
  return version
}

export function targetOf(draft: Draft): Version {
  return versionOf(draft, draft.columns.versionNumber)
}

export function hostOf(draft: Draft, id: HostId | null): HostView | null {
  return id === null ? null : (draft.hosts.get(id) ?? draft.base.hosts.get(id) ?? null)
}

export function isDeleting(draft: Draft): boolean {
  return draft.columns.deletionRequestedAt !== null
}

/** The rollout in progress, null when it has finished. */
export function openRollout(draft: Draft): Rollout | null {
  const { rollout } = draft
  return rollout.finishedAt === null ? rollout : null
}

/** R8: the instant of a full deadline. */
export function deadlineFrom(now: Instant, progressDeadlineSeconds: number): Instant {
  return now + progressDeadlineSeconds * 1000
}

function writable(draft: Draft): DraftRows {
  if (draft.alive instanceof DraftRows && draft.alive !== draft.base.replicas) return draft.alive
  const rows = new DraftRows(draft.alive)
  draft.alive = rows
  return rows
}
