import type { TimerKind } from '../../generated/prisma/enums.ts'
import type { HostId, Instant } from '../../model/id.ts'
import { hostHeldBy } from '../../model/replica.ts'
import type { NamedHost, ServiceColumns, ServiceSnapshot, Version } from '../../model/service.ts'
import { type Draft, hostOf, versionOf } from '../draft/draft.ts'

/** Makes the snapshot after the change. It shares with the base whatever did not change. */
export function nextSnapshotOf(
  draft: Draft,
  columns: ServiceColumns,
  timers: ReadonlyMap<TimerKind, Instant>,
): ServiceSnapshot {
  const slots = [...draft.slots.values()].sort((a, b) => a.index - b.index || a.contentNumber - b.contentNumber)
  const lastVersion = draft.insertedVersions.reduce(
    (last, { number }) => Math.max(last, number),
    draft.base.lastVersion,
  )
  const replicas = draft.touched.size === 0 ? draft.base.replicas : draft.alive
  const { rollout } = draft
  const versions = versionsOf(draft)
  const contents = contentsOf(draft)
  return {
    ...draft.base,
    columns,
    versions,
    lastVersion,
    contents,
    replicas,
    slots,
    rollout,
    hosts: hostsOf(draft),
    timers,
  }
}

/** Keeps the versions that an alive replica, the target, the current rollout or the history of completion names. */
function versionsOf(draft: Draft): ReadonlyMap<number, Version> {
  const { fromVersion, toVersion } = draft.rollout
  const { versionNumber, completedVersion, previousVersion, provenVersion } = draft.columns
  const { versions } = draft.base
  if (draft.insertedVersions.length === 0 && versions.size === 1) return versions
  const numbers = new Set([versionNumber, toVersion])
  for (const number of [fromVersion, completedVersion, previousVersion, provenVersion])
    if (number !== null) numbers.add(number)
  for (const row of draft.alive.rows) numbers.add(row.versionNumber)
  if (draft.insertedVersions.length === 0 && versions.size === numbers.size) return versions
  return new Map([...numbers].sort((a, b) => a - b).map((number) => [number, versionOf(draft, number)]))
}

/** A version whose number is its contentNumber was the first with its content, so it adds that content. */
function contentsOf(draft: Draft): ReadonlyMap<string, number> {
  const brought = draft.insertedVersions.filter((version) => version.number === version.contentNumber)
  if (brought.length === 0) return draft.base.contents
  return new Map([
    ...draft.base.contents,
    ...brought.map((version) => [version.contentDigest, version.number] as const),
  ])
}

/** Keeps the hosts of the alive replicas. */
function hostsOf(draft: Draft): ReadonlyMap<HostId, NamedHost> {
  if (!placesChanged(draft)) return draft.base.hosts
  const ids = new Set<HostId>()
  for (const row of draft.alive.rows) if (row.hostId !== null) ids.add(row.hostId)
  const hosts = new Map<HostId, NamedHost>()
  for (const id of [...ids].sort()) {
    const host = hostOf(draft, id)
    if (host !== null) hosts.set(id, host)
  }
  const same = hosts.size === draft.base.hosts.size && [...hosts.keys()].every((id) => draft.base.hosts.has(id))
  return same ? draft.base.hosts : hosts
}

function placesChanged(draft: Draft): boolean {
  if (draft.hosts.size > 0) return true
  for (const row of draft.touched.values()) {
    const before = draft.base.replicas.get(row.id)
    if (before !== undefined && before.hostId !== hostHeldBy(row)) return true
  }
  return false
}
