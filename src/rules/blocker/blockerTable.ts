import type { BlockReason } from '../../generated/prisma/enums.ts'
import type { Blocker } from '../../model/blocker.ts'
import { clauseOf } from '../../model/clause.ts'
import { counted } from '../../model/counted.ts'
import type { Instant } from '../../model/id.ts'
import type { Replica, Rollout, Slot } from '../../model/service.ts'
import { type Draft, hostOf, versionOf } from '../draft/draft.ts'
import { minReadySecondsOf } from '../draft/minReady.ts'
import { failingProbe, probeText } from '../draft/probeText.ts'
import { keyOf } from '../draft/slot.ts'

/**
 * Replicas of one service that wait for the same thing: the first of them, which the sentence names, and how many they
 * are.
 */
export interface Waiting {
  readonly draft: Draft
  readonly first: Replica
  readonly count: number
}

/** A reason that holds replicas. Neither of its texts has a full stop. */
interface OfReplicas {
  /** `usual`: a service that is well waits for it too. `noPlace`: placement found no place. `trouble`: somebody should look. */
  readonly nature: 'usual' | 'noPlace' | 'trouble'
  readonly waitsFor: (waiting: Waiting) => string
  /** Why it waits, or the next step for whoever reads it; null where there is nothing to add. */
  readonly help: (waiting: Waiting) => string | null
  /** What somebody can do about it, as a clause; null where only time helps. The help, where it is left out. */
  readonly remedy?: (waiting: Waiting) => string | null
  /** Whether it is about the host of the replica, too. */
  readonly ofHost?: true
}

/** A reason that holds a rollout as a whole. */
interface OfRollout {
  readonly nature: 'rollout'
  readonly message: (rollout: Rollout) => string
  /** What somebody can do about it, as a sentence. */
  readonly remedy: (rollout: Rollout) => string
}

const failing = {
  nature: 'trouble',
  waitsFor: waitsAfterFailures,
  help: failureHelp,
  remedy: (waiting) => (waiting.count === 1 && waiting.first.available ? null : failureHelp(waiting)),
} as const satisfies OfReplicas
const noPlace = { nature: 'noPlace', waitsFor: waitsForPlace, help: placementHelp, remedy: placementRemedy } as const

/**
 * Every reason with its sentence, the most severe reason first: a failing replica comes before a waiting one, and one that cannot run before one
 * that only has to become available. The blockers of services, rollouts and replicas are all worded here.
 */
export const blockerTable = {
  CRASH_LOOP: failing,
  PROGRESS_DEADLINE: {
    nature: 'rollout',
    message: ({ number, progressDeadlineSeconds, blocker }) =>
      `Rollout ${number} made no progress for ${progressDeadlineSeconds} s: ${blocker?.message ?? 'see its replicas.'}`,
    remedy: ({ blocker }) =>
      blocker?.remedy ?? 'Go back with rollbackService, or update to a version that becomes available.',
  },
  ROLLOUT_PAUSED: {
    nature: 'rollout',
    message: ({ number }) => `Rollout ${number} is paused: resumeRollout lets it go on.`,
    remedy: () => 'Let it go on with resumeRollout.',
  },
  BACKOFF: failing,
  QUOTA: noPlace,
  NO_HOST: noPlace,
  NO_CAPACITY: noPlace,
  NO_PORT: noPlace,
  SPREAD: noPlace,
  HOST_UNREACHABLE: {
    nature: 'trouble',
    ofHost: true,
    waitsFor: (waiting) =>
      waiting.count === 1
        ? `Waiting for ${nameOf(waiting)}, whose worker on host ${hostNameOf(waiting)} cannot be reached`
        : `Waiting for ${nameOf(waiting)}, whose workers cannot be reached, the first of them on host ${hostNameOf(waiting)}`,
    help: ({ count }) =>
      count === 1
        ? 'see whether that worker runs. If it does not, confirmHostLoss has what it ran replaced at once'
        : 'see whether those workers run. If they do not, confirmHostLoss has what they ran replaced at once',
  },
  HOST_DRAINING: {
    nature: 'trouble',
    ofHost: true,
    waitsFor: (waiting) =>
      `Waiting for ${nameOf(waiting)} to leave the worker on host ${hostNameOf(waiting)}, which is being drained`,
    help: drainHelp,
    remedy: drainRemedy,
  },
  REQUEUED: {
    nature: 'trouble',
    ofHost: true,
    waitsFor: (waiting) =>
      `Waiting for ${nameOf(waiting)} to leave host ${hostNameOf(waiting)}, away from which a user moves ${waiting.count === 1 ? 'it' : 'them'}`,
    help: drainHelp,
    remedy: drainRemedy,
  },
  QUEUED: { nature: 'usual', waitsFor: (waiting) => `Waiting for ${nameOf(waiting)} to be placed`, help: () => null },
  WAITING_FOR_READY: {
    nature: 'usual',
    waitsFor: (waiting) => `Waiting for ${nameOf(waiting)} to become ready`,
    help: readyHelp,
    remedy: readyRemedy,
  },
  NO_ADDRESS: {
    nature: 'trouble',
    ofHost: true,
    waitsFor: (waiting) => {
      if (waiting.first.leaving === 'MOVED') return waitsToMove(waiting)
      return waiting.first.available
        ? `Waiting for an address to list ${nameOf(waiting)} with`
        : `${waitsToStayReady(waiting)} and for an address to list it with`
    },
    help: (waiting) =>
      waiting.first.leaving === 'MOVED'
        ? 'that happens as soon as the limits of the service allow it'
        : `host ${hostNameOf(waiting)} has none, so let its worker register with one`,
    remedy: (waiting) =>
      waiting.first.leaving === 'MOVED'
        ? null
        : `let the worker of host ${hostNameOf(waiting)} register with an address`,
  },
  MIN_READY: { nature: 'usual', waitsFor: waitsToStayReady, help: () => null },
  STOPPING_OLD: {
    nature: 'usual',
    waitsFor: (waiting) => `Waiting for ${nameOf(waiting)} to be replaced`,
    help: () => null,
  },
} as const satisfies Record<BlockReason, OfReplicas | OfRollout>

type ReasonOf<Entry> = {
  [Reason in BlockReason]: (typeof blockerTable)[Reason] extends Entry ? Reason : never
}[BlockReason]

export type RolloutReason = ReasonOf<OfRollout>
export type ReplicaReason = ReasonOf<OfReplicas>

export const bySeverity = Object.keys(blockerTable) as readonly BlockReason[]

export const isReplicaReason = (reason: BlockReason): reason is ReplicaReason =>
  blockerTable[reason].nature !== 'rollout'

export const isOfNature = (reason: BlockReason, nature: OfReplicas['nature']): boolean =>
  blockerTable[reason].nature === nature

/** Words the whole sentence: what the replicas wait for, and what helps. */
export function waitMessage(reason: ReplicaReason, waiting: Waiting): string {
  const { waitsFor, help } = blockerTable[reason]
  const next = help(waiting)
  return `${waitsFor(waiting)}${next === null ? '' : `: ${next}`}.`
}

/** What somebody can do about it, and what it is about besides the replica. */
export function remedyAndObjects(reason: ReplicaReason, waiting: Waiting): Pick<Blocker, 'remedy' | 'objects'> {
  const { help, remedy = help, ofHost }: OfReplicas = blockerTable[reason]
  const clause = remedy(waiting)
  const { hostId, blocker } = waiting.first
  const host = ofHost === true && hostId !== null ? [{ type: 'Host', id: hostId } as const] : []
  const objects = [...host, ...(isOfNature(reason, 'noPlace') ? (blocker?.objects ?? []) : [])]
  return {
    ...(clause === null ? {} : { remedy: sentenceOf(clause) }),
    ...(objects.length === 0 ? {} : { objects }),
  }
}

function sentenceOf(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}${clause.endsWith('.') ? '' : '.'}`
}

/** Makes the blocker of one replica. */
export function replicaBlocker(
  draft: Draft,
  row: Replica,
  reason: ReplicaReason,
  since: Instant,
  until: Instant | null = null,
): Blocker {
  const waiting = { draft, first: row, count: 1 }
  return {
    reason,
    message: waitMessage(reason, waiting),
    ...remedyAndObjects(reason, waiting),
    count: 1,
    since,
    until,
    replica: row.id,
  }
}

/** Names the replicas: "web[4]", or "web[4] and 2 more". */
export function nameOf({ draft, first, count }: Waiting): string {
  const name = `${draft.base.name}[${first.index}]`
  return count === 1 ? name : `${name} and ${count - 1} more`
}

function hostNameOf({ draft, first }: Waiting): string {
  return hostOf(draft, first.hostId)?.name ?? 'unknown'
}

function waitsAfterFailures(waiting: Waiting): string {
  const { draft, first, count } = waiting
  const slot = draft.slots.get(keyOf(first))
  const cause = failureCause(slot)
  if (count > 1) {
    const example = cause === null ? '' : ` (${nameOf({ ...waiting, count: 1 })}: ${cause})`
    return `Waiting for ${nameOf(waiting)}, which have failed again and again${example}`
  }
  const failed = `failed ${counted(slot?.failures ?? 0, 'time')}`
  if (first.available) return `${nameOf(waiting)} had ${failed} and is available now`
  const retry =
    slot === undefined || first.notBefore === null
      ? ''
      : ` and is tried again ${(slot.retryAt - slot.failedAt) / 1000} s after the last failure`
  return `Waiting for ${nameOf(waiting)}, which has ${failed}${retry}${cause === null ? '' : ` (${cause})`}`
}

function failureHelp({ draft, first, count }: Waiting): string {
  const slot = draft.slots.get(keyOf(first))
  if (count > 1) {
    const reset = draft.alive.rows.some(waitsForBackoff) ? '; resetBackoff tries them at once' : ''
    return `${slot?.failedReason === 'START_FAILED' ? 'mend that' : 'read their logs'}${reset}`
  }
  if (first.available) return `that is forgotten after ${draft.columns.settings.backoffResetAfterSeconds} s`
  return `${failureAdvice(slot)}${waitsForBackoff(first) ? '; resetBackoff tries it at once' : ''}`
}

/** What is known of why the slot failed last; null where nothing is. */
export function failureCause(slot: Slot | undefined): string | null {
  if (slot === undefined) return null
  if (slot.failedMessage !== null) return clauseOf(slot.failedMessage)
  return slot.failedReason === 'START_FAILED' ? 'it could not be started' : null
}

/** What never started has written no log. */
export function failureAdvice(slot: Slot | undefined): string {
  return slot?.failedReason === 'START_FAILED' ? 'mend that' : 'read its log'
}

/** Why replicas are not ready, as far as their worker has told. */
function readyHelp(waiting: Waiting): string {
  const { draft, first, count } = waiting
  const host = `host ${hostNameOf(waiting)}`
  const failing = failingHint(waiting)
  if (failing !== null) return failing
  if (first.startedAt === null)
    return count === 1
      ? `its worker on ${host} has not confirmed its process yet`
      : 'their workers have not confirmed all of their processes yet'
  if (count > 1) return 'their probes have not succeeded yet; see their logs'
  const { startup } = versionOf(draft, first.versionNumber).content
  const probe = startup !== null && first.lastProbe === null ? 'startup' : 'readiness'
  return `its ${probe} probe has not succeeded yet; see its log on ${host}`
}

/** The failing probe of the replica that is named; null where none is known. */
export function failingHint({ draft, first, count }: Waiting): string | null {
  const failing = failingProbe(first)
  if (failing === null) return null
  return `${count === 1 ? '' : `of ${draft.base.name}[${first.index}], `}${probeText(failing)}`
}

/** A reset of the backoff helps only while the replica waits for its end. */
const waitsForBackoff = (row: Replica): boolean => row.notBefore !== null

function waitsForPlace(waiting: Waiting): string {
  return `Waiting for a place for ${nameOf(waiting)}`
}

/** Placement says what is missing and what would help. Its message is the replica's own blocker. */
function placementHelp({ first }: Waiting): string | null {
  return first.blocker === null ? null : withoutStop(first.blocker.message)
}

function placementRemedy({ first }: Waiting): string | null {
  return first.blocker?.remedy ?? null
}

/** A replica that starts may only need time, so there is nothing to do before a probe has failed. */
function readyRemedy(waiting: Waiting): string | null {
  const { draft, first } = waiting
  if (failingProbe(first) === null) return null
  return `read the log of ${draft.base.name}[${first.index}] with replicaLog, and mend what its probe asks for`
}

function drainRemedy({ draft }: Waiting): string | null {
  const waiting = draft.alive.rows.find((row) => row.state === 'PENDING' && row.notBefore === null)
  return waiting?.blocker?.remedy ?? null
}

function waitsToStayReady(waiting: Waiting): string {
  return `Waiting for ${nameOf(waiting)} to have been ready for ${minReadySecondsOf(waiting.draft, waiting.first)} s`
}

/** A process that was started for the old address may listen there only. */
function waitsToMove(waiting: Waiting): string {
  const [address = 'none'] = waiting.first.hostAddresses
  return `Waiting for ${nameOf(waiting)} to be started again, because host ${hostNameOf(waiting)} has moved to ${address}`
}

/** Says what an available replica waits for before it may leave, which is mostly a place for its replacement. */
function drainHelp({ draft }: Waiting): string {
  const waiting = draft.alive.rows.find((row) => row.state === 'PENDING' && row.notBefore === null)
  if (waiting?.blocker == null)
    return 'it is stopped when as many others are available as the limits of its service ask for'
  return waiting.blocker.reason === 'QUEUED'
    ? 'its replacement waits to be placed'
    : `no place for a replacement: ${withoutStop(waiting.blocker.message)}`
}

function withoutStop(sentence: string): string {
  return sentence.endsWith('.') ? sentence.slice(0, -1) : sentence
}
