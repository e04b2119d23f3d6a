import type { TimerKind } from '../generated/prisma/enums.ts'
import type { HostId, Instant } from '../model/id.ts'
import type { HostView, ServiceColumns, ServiceSnapshot, Version } from '../model/service.ts'
import { type Draft, hostOf, versionOf } from './draft.ts'
import { sameHost } from './hostView.ts'

/** The snapshot after the change. Whatever did not change is the base's own. */
export function nextSnapshotOf(draft: Draft, columns: ServiceColumns, timers: ReadonlyMap<TimerKind, Instant>): ServiceSnapshot {
  const slots = [...draft.slots.values()].sort((a, b) => a.index - b.index || a.contentNumber - b.contentNumber)
  const lastVersion = draft.insertedVersions.reduce((last, { number }) => Math.max(last, number), draft.base.lastVersion)
  const replicas = draft.touched.size === 0 ? draft.base.replicas : draft.alive
  const { rollout } = draft
  return { ...draft.base, columns, versions: versionsOf(draft), lastVersion, replicas, slots, rollout, hosts: hostsOf(draft), timers }
}

/** Those that an alive replica, the target or the current rollout names. */
function versionsOf(draft: Draft): ReadonlyMap<number, Version> {
  const { fromVersion, toVersion } = draft.rollout
  const { versions } = draft.base
  if (draft.insertedVersions.length === 0 && versions.size === 1) return versions
  const numbers = new Set([draft.columns.versionNumber, toVersion])
  if (fromVersion !== null) numbers.add(fromVersion)
  for (const row of draft.alive.rows) numbers.add(row.versionNumber)
  if (draft.insertedVersions.length === 0 && versions.size === numbers.size) return versions
  return new Map([...numbers].sort((a, b) => a - b).map((number) => [number, versionOf(draft, number)]))
}

/** Those of the alive replicas. */
function hostsOf(draft: Draft): ReadonlyMap<HostId, HostView> {
  if (!placesChanged(draft)) return draft.base.hosts
  const ids = new Set<HostId>()
  for (const row of draft.alive.rows) if (row.hostId !== null) ids.add(row.hostId)
  const hosts = new Map<HostId, HostView>()
  for (const id of [...ids].sort()) {
    const host = hostOf(draft, id)
    if (host !== null) hosts.set(id, host)
  }
  const same = hosts.size === draft.base.hosts.size && [...hosts].every(([id, host]) => sameHost(draft.base.hosts.get(id), host))
  return same ? draft.base.hosts : hosts
}

function placesChanged(draft: Draft): boolean {
  if (draft.hosts.size > 0) return true
  for (const row of draft.touched.values()) {
    const before = draft.base.replicas.get(row.id)
    if (before !== undefined && before.hostId !== (row.state === 'ENDED' ? null : row.hostId)) return true
  }
  return false
}
