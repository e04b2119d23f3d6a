import { groupBy } from '../../model/groupBy.ts'
import type { MissingPort, PortHolder } from '../../model/host.ts'
import type { HostId, Instant } from '../../model/id.ts'

/** Who holds ports, by `portKey`. */
export type PortHolders = ReadonlyMap<string, PortHolder>

type HostPort = Pick<MissingPort, 'hostId' | 'port' | 'protocol'>

export const portKey = ({ hostId, port, protocol }: HostPort): string => `${hostId} ${port} ${protocol}`

/** The ports of which only the database knows who holds them. */
export function unknownHolders(holds: readonly { readonly missing: readonly MissingPort[] }[]): MissingPort[] {
  const unknown = new Map<string, MissingPort>()
  for (const { missing } of holds)
    for (const port of missing) if (port.holder === null) unknown.set(portKey(port), port)
  return [...unknown.values()]
}

/** Says of each missing port who holds it, as far as that is known (R13). */
export function holderSentences(missing: readonly MissingPort[], holders: PortHolders): string[] {
  return missing.flatMap((port) => {
    const holder = holderOf(port, holders)
    return holder === null ? [] : [sentence(port, holder)]
  })
}

/** Finds when the first host has all missing ports free without anybody's doing; null where that is not known. */
export function freedAt(missing: readonly MissingPort[], holders: PortHolders, now: Instant): Instant | null {
  const hosts = groupBy(missing, ({ hostId }): HostId => hostId)
  const ends = [...hosts.values()].map((ports) =>
    Math.max(...ports.map((port) => endOf(holderOf(port, holders), now) ?? Number.POSITIVE_INFINITY)),
  )
  const first = Math.min(...ends)
  return Number.isFinite(first) ? first : null
}

function holderOf(port: MissingPort, holders: PortHolders): PortHolder | null {
  return port.holder ?? holders.get(portKey(port)) ?? null
}

function endOf(holder: PortHolder | null, now: Instant): Instant | null {
  if (holder?.kind === 'outsider') return holder.until
  if (holder?.kind !== 'replica' || holder.stop === null || !holder.stop.isReachable) return null
  return holder.stop.goneAt > now ? holder.stop.goneAt : null
}

function sentence({ hostName, port, protocol }: MissingPort, holder: PortHolder): string {
  const what = `port ${port}${protocol === 'UDP' ? '/udp' : ''}`
  const where = `On host ${hostName}`
  switch (holder.kind) {
    case 'replica':
      return `${where} ${holder.service}[${holder.index}] of project ${holder.project} has ${what}${stopOf(holder)}.`
    case 'granted':
      return `${where} ${holder.service}[${holder.index}] has just got ${what}.`
    case 'lostWorker':
      return `${where} ${what} is kept for worker ${holder.worker}, which is lost and may still run what had it: removeWorker gives it back.`
    case 'reservation':
      return `${where} ${what} is reserved by its worker's settings.`
    case 'outsider':
      return `${where} a program that was not started by the worker uses ${what}. It is tried again at the end of this blocker, or as soon as a worker that watches it sees it free.`
    default:
      return holder satisfies never
  }
}

function stopOf({ stop }: Extract<PortHolder, { kind: 'replica' }>): string {
  if (stop === null) return ''
  return stop.isReachable
    ? ` and is being stopped, which takes at most ${stop.seconds} s`
    : ' and is being stopped, but its worker cannot be reached'
}
