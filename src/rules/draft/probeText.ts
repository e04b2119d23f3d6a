import { clauseOf } from '../../model/clause.ts'
import { counted } from '../../model/counted.ts'
import type { LastProbe } from '../../model/lastProbe.ts'
import type { Replica } from '../../model/service.ts'

/** The failing probe of a replica; null where none is known. */
export function failingProbe({ lastProbe }: Pick<Replica, 'lastProbe'>): LastProbe | null {
  return lastProbe === null || lastProbe.ok ? null : lastProbe
}

/** "GET /health on port 20001 answered 503 (12 times in 40 s)". It is about the past, so it stays true. */
export function probeText({ kind, message, count, since, at }: LastProbe): string {
  const what = message === null ? `its ${kind.toLowerCase()} probe failed` : clauseOf(message)
  const seconds = Math.round((at - since) / 1_000)
  if (count === 1) return what
  return `${what} (${counted(count, 'time')}${seconds > 0 ? ` in ${seconds} s` : ''})`
}
