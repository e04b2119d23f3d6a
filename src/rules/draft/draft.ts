import type { EventKind } from '../../generated/prisma/enums.ts'
import { rowsPerCommit } from '../../model/bounds.ts'
import type { AllocatedPort } from '../../model/content.ts'
import type { Room } from '../../model/host.ts'
import type { HostId, Instant, ReplicaId, WorkerId } from '../../model/id.ts'
import { isAlive } from '../../model/replica.ts'
import type {
  NamedHost,
  Replica,
  Rollout,
  ServiceColumns,
  ServiceSnapshot,
  Slot,
  Version,
} from '../../model/service.ts'
import type { Settings } from '../../model/settings.ts'
import type { WorkerPrecondition } from './change.ts'
import { DraftRows, ReplicaRows } from './replicaRows.ts'
import { type SlotKey, slotKey } from './slot.ts'

/** Something that happened to one replica or to several alike: one event tells it of all of them. */
export interface DraftEvent {
  readonly kind: EventKind
  readonly actor: string
  /** Why the actor wanted it, in their words. */
  readonly why: string | null
  /** What is the same each time that it happens again; null where every time is told. */
  readonly cause: string | null
  /** How often it has happened so far, where the rule has counted that itself. */
  readonly count: number
  /** What happened, without the subject: "is ready". If it is null, `message` is the whole sentence. */
  readonly predicate: { readonly one: string; readonly many: string } | null
  readonly message: string
  /** The host where all of it happened; null where there were several. */
  hostId: HostId | null
  readonly replicas: { readonly id: ReplicaId; readonly index: number }[]
}

/**
 * What a commit would make of a service: the snapshot with the changes over it. It is copy-on-write, so the snapshot
 * itself stays as it is. Intents change the draft one after the other; then `closeDraft` settles the rules once for all
 * of them and returns the difference.
 */
export interface Draft {
  readonly base: ServiceSnapshot
  /** This commit creates the service. */
  readonly created: boolean
  /** A user's change of the spec is in the draft, so its new specRevision is known only after the commit. */
  specChanged: boolean
  /** How many rows the commit may write. */
  readonly mostRows: number
  /** The goals as they are now. What follows from them (counts, status, blockers) is the base's until the draft is closed. */
  columns: ServiceColumns
  /** The alive rows. They are the base's own until the first write. */
  alive: ReplicaRows
  /** Every row that was written, as it is now; ended ones, too. */
  readonly touched: Map<ReplicaId, Replica>
  rollout: Rollout
  /** Rollouts that were left before they were complete (R5, R6), in order. */
  readonly left: Rollout[]
  slots: Map<SlotKey, Slot>
  readonly insertedVersions: Version[]
  /** Hosts that a grant named. */
  readonly hosts: Map<HostId, NamedHost>
  /** For each host that grants take from: the allocation that they were decided on, and the host's next port cursor. */
  readonly granted: Map<HostId, { readonly allocation: number; readonly lastPort: number }>
  /** Of each row that could not bind some of its ports: which ones (R13). */
  readonly quarantined: Map<ReplicaId, readonly AllocatedPort[]>
  /** Rows that ended when their worker was lost, which may still use their ports (R15). */
  readonly lost: Set<ReplicaId>
  readonly fences: { readonly workerId: WorkerId; readonly epoch: number }[]
  /** The states that workers must have at the commit. */
  readonly workerPreconditions: WorkerPrecondition[]
  /** For each replacement that this commit created, the replica whose memory of repeats it takes over. */
  readonly heirs: Map<ReplicaId, ReplicaId>
  /** The room that hosts and projects have; null where it is not known. */
  room: Room | null
  /** Why the user wants what is being decided, in their words; null where they did not say, and for what the rules do. */
  why: string | null
  /** Everything that happened, in order. */
  readonly events: DraftEvent[]
  /** The position (1, 2, …) in `events` of the last change of the spec. */
  specEvent: number | null
  /** The desired replicas before a scale in this commit (R4); null where there was none. */
  grownFrom: number | null
  /** A scale, new limits or a new target came, so the rollout's marks start over (R8). */
  rearmed: boolean
  /** Something waits that placement has not seen in this form. */
  wakesPlacement: boolean
  /** A growth was judged by the project's limit, so the commit compares the limit with the database (R17). */
  comparesLimit: boolean
  /** The row cap stopped the rules early, so they go on at once in another commit. */
  capped: boolean
}

/** Opens an empty draft over `snapshot` that has room for `mostRows`. */
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
    quarantined: new Map(),
    lost: new Set(),
    fences: [],
    workerPreconditions: [],
    heirs: new Map(),
    room: null,
    why: null,
    events: [],
    specEvent: null,
    grownFrom: null,
    rearmed: false,
    wakesPlacement: false,
    comparesLimit: false,
    capped: false,
  }
}

/** Writes a row. A row that has ended is not alive any more. */
export function put(draft: Draft, row: Replica): void {
  const alive = writable(draft)
  if (isAlive(row)) alive.set(row)
  else alive.delete(row.id)
  draft.touched.set(row.id, row)
}

/** Forgets a row that this draft created, so that it is not written. */
export function drop(draft: Draft, row: Replica): void {
  writable(draft).delete(row.id)
  draft.touched.delete(row.id)
}

/** How many more rows the commit may write. */
export function roomIn(draft: Draft): number {
  return Math.max(0, draft.mostRows - draft.touched.size)
}

/**
 * Whether the commit has room for the row and for what follows from it, which is `rows` in all. A row that it writes
 * already takes no more room.
 */
export function hasRoom(draft: Draft, id: ReplicaId, rows = 1): boolean {
  return roomIn(draft) >= (draft.touched.has(id) ? rows - 1 : rows)
}

/** There is no room for a row and its replacement, so the next intent belongs to the next commit. */
export function isFull(draft: Draft): boolean {
  return roomIn(draft) < 2
}

export function isCreatedHere(draft: Draft, id: ReplicaId): boolean {
  return !draft.base.replicas.has(id)
}

/** Finds the service's version of that number. */
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

export function hostOf(draft: Draft, id: HostId | null): NamedHost | null {
  return id === null ? null : (draft.hosts.get(id) ?? draft.base.hosts.get(id) ?? null)
}

export function isDeleting(draft: Draft): boolean {
  return draft.columns.deletionRequestedAt !== null
}

/** The rollout in progress; null when it has finished. */
export function openRollout(draft: Draft): Rollout | null {
  const { rollout } = draft
  return rollout.finishedAt === null ? rollout : null
}

/** R8: the instant at which a full deadline expires. */
export function deadlineFrom(now: Instant, progressDeadlineSeconds: number): Instant {
  return now + progressDeadlineSeconds * 1000
}

/** R6: the instant at which a watch ends that begins now. */
export function watchFrom(now: Instant, { watchSeconds }: Pick<Settings, 'watchSeconds'>): Instant {
  return now + watchSeconds * 1000
}

function writable(draft: Draft): DraftRows {
  if (draft.alive instanceof DraftRows && draft.alive !== draft.base.replicas) return draft.alive
  const rows = new DraftRows(draft.alive)
  draft.alive = rows
  return rows
}
