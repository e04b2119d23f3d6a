import type { BlockReason } from '../../generated/prisma/enums.ts'
import type { ServiceChange } from '../draft/change.ts'

/** Something that began in a commit and that an operator should look at, although nobody asked. */
export interface Trouble {
  readonly reason: BlockReason
  /** Names the service and says why. */
  readonly message: string
}

/** The reasons that time alone does not mend. A service waits for quota, room or a host also on an ordinary busy day. */
const openings: Readonly<Partial<Record<BlockReason, string>>> = {
  CRASH_LOOP: 'is in a crash loop',
  PROGRESS_DEADLINE: 'has a stalled rollout',
  NO_PORT: 'finds no free port',
}

/** The troubles that the service has after the change and did not have before it. */
export function troublesOf({ next, facts }: Pick<ServiceChange, 'next' | 'facts'>): Trouble[] {
  const last = facts.at(-1)
  if (last?.kind !== 'change') return []
  const { before, after } = last.data
  const had = new Set((before.blockers ?? []).map(({ reason }) => reason))
  return (after.blockers ?? []).flatMap((blocker) => {
    const opening = openings[blocker.reason]
    if (opening === undefined || had.has(blocker.reason)) return []
    const message = `Service ${next.projectName}/${next.name} ${opening}: ${blocker.message}`
    return [{ reason: blocker.reason, message }]
  })
}
