import type { ReplicaId } from '../../src/model/id.ts'
import type { RollingReplica, RollingResult, RollingView } from '../../src/rules/rollingView.ts'

type Stage = 'pending' | 'starting' | 'running' | 'ready' | 'available'

/** `count` equal replicas of a version. `of`: its content, when that is another version's. */
export interface Group {
  readonly count: number
  readonly version: number
  readonly stage: Stage
  readonly of?: number
  readonly leaving?: boolean
  readonly twinOf?: string
}

export const some = (
  count: number,
  version: number,
  stage: Stage,
  more: Pick<Group, 'of' | 'leaving' | 'twinOf'> = {},
): Group => ({
  count,
  version,
  stage,
  ...more,
})

/** Ids are `v1-0`, `v1-1` … in the order of the groups; a later one is the newer. */
export function rows(groups: readonly Group[]): RollingReplica[] {
  const made: RollingReplica[] = []
  const perVersion = new Map<number, number>()
  for (const { count, version, stage, of, leaving, twinOf } of groups) {
    for (let i = 0; i < count; i++) {
      const number = perVersion.get(version) ?? 0
      perVersion.set(version, number + 1)
      made.push({
        id: `v${version}-${number}` as ReplicaId,
        index: made.length,
        versionNumber: version,
        contentNumber: of ?? version,
        state: stage === 'pending' ? 'PENDING' : stage === 'starting' ? 'STARTING' : 'RUNNING',
        ready: stage === 'ready' || stage === 'available',
        available: stage === 'available',
        leaving: leaving ? 'RESTART' : null,
        twinOf: (twinOf ?? null) as ReplicaId | null,
        notBefore: null,
        createdAt: made.length,
      })
    }
  }
  return made
}

export function view(
  desired: number,
  [maxSurge, maxUnavailable]: readonly [number, number],
  target: number | RollingView['target'],
  groups: readonly Group[],
  more: Partial<RollingView> = {},
): RollingView {
  return {
    desired,
    maxSurge,
    maxUnavailable,
    target: typeof target === 'number' ? { number: target, contentNumber: target } : target,
    paused: false,
    grownFrom: null,
    cap: 500,
    replicas: rows(groups),
    ...more,
  }
}

/** "−2 v1, +5 v2": what is stopped and started, by version; "nothing". */
export function figures(input: RollingView, { starts, stops, capped }: RollingResult): string {
  const versions = new Map([...input.replicas].map((replica) => [replica.id, replica.versionNumber]))
  const stopped = tally(stops.map((stop) => versions.get(stop.id) ?? 0)).map(
    ([version, count]) => `−${count} v${version}`,
  )
  const started = tally(starts.map((start) => start.versionNumber)).map(([version, count]) => `+${count} v${version}`)
  const text = [...stopped, ...started].join(', ') || 'nothing'
  return capped ? `${text}, capped` : text
}

function tally(versions: readonly number[]): [number, number][] {
  const counts = new Map<number, number>()
  for (const version of versions) counts.set(version, (counts.get(version) ?? 0) + 1)
  return [...counts].sort(([a], [b]) => a - b)
}
