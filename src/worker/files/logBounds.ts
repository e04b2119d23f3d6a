import type { ReplicaName } from '../assignment.ts'

const mebibyte = 1_048_576

/** The size at which a log is turned: 10 MiB. Its older part, which is kept beside it, is as large at most. */
export const logBytes = 10_485_760
/** All logs of the replicas that have not ended: 4 GiB. A replica has at most four files, so 102 replicas reach it. */
export const livingLogBytes = 4_096 * mebibyte
/** The logs of all ended replicas of one service: 64 MiB. A service in a crash loop must not push out what others left. */
export const endedBytesOfService = 64 * mebibyte
/** The logs of all ended replicas: 1 GiB. */
export const endedBytes = 1_024 * mebibyte
/** The number of ended replicas whose logs are kept. */
export const keptEndedReplicas = 100

/** The shortest time between two looks, while a log grows very fast. */
export const shortestMillis = 50
/** A log that grows slowly needs no look of its own. */
export const slowMillis = 2_000

/**
 * When a log should be looked at again that has grown by so many bytes since the last look: when it will have grown by
 * half of what it may. Null: it grows so slowly that the usual look comes early enough.
 */
export function nextLookMillis(grown: number, sinceMillis: number, limit: number): number | null {
  if (grown <= 0) return null
  const millis = ((limit / 2) * Math.max(sinceMillis, 1)) / grown
  return millis >= slowMillis ? null : Math.max(shortestMillis, Math.floor(millis))
}

/** What an ended replica has left. */
export interface EndedLog {
  readonly replica: ReplicaName
  readonly service: string
  readonly bytes: number
  /** When something of it was last written. */
  readonly at: number
}

/** Chooses whose logs are removed, so that all bounds are kept; the newest stay. */
export function logsToRemove(ended: readonly EndedLog[]): ReplicaName[] {
  const newestFirst = [...ended].sort((a, b) => b.at - a.at || (a.replica < b.replica ? -1 : 1))
  const ofService = new Map<string, number>()
  let kept = 0
  let all = 0
  return newestFirst.flatMap(({ replica, service, bytes }) => {
    const own = (ofService.get(service) ?? 0) + bytes
    if (kept === keptEndedReplicas || all + bytes > endedBytes || own > endedBytesOfService) return [replica]
    ofService.set(service, own)
    kept += 1
    all += bytes
    return []
  })
}
