import type { Logger } from 'pino'
import type { ServiceId } from '../../model/id.ts'
import type { Committer } from '../../store/commit/committer.ts'
import type { Database } from '../../store/database/database.ts'

const pageSize = 1_000

/**
 * The only scan: every service that is not gone decides once, as if a timer were due. On a committed state with no
 * timer due it makes no fact. What a crash left half done has a timer or a PENDING replica, which the timers and
 * placement pick up.
 */
export async function scanServices(options: {
  readonly database: Database
  readonly committer: Committer
  readonly log: Logger
}): Promise<void> {
  const { database, committer, log } = options
  let after: string | null = null
  let scanned = 0
  let changed = 0
  for (;;) {
    const page: { id: string }[] = await database.prisma.service.findMany({
      where: { deletedAt: null, ...(after === null ? {} : { id: { gt: after } }) },
      select: { id: true },
      orderBy: { id: 'asc' },
      take: pageSize,
    })
    const outcomes = await Promise.all(page.map(({ id }) => committer.submit(id as ServiceId, { kind: 'tick' })))
    scanned += page.length
    changed += outcomes.filter((outcome) => outcome.kind === 'done' && outcome.changed).length
    after = page.at(-1)?.id ?? null
    if (page.length < pageSize) break
  }
  log.info({ scanned, changed }, 'Start-up scan done')
}
