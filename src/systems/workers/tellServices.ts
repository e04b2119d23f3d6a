import { intentsPerCommit } from '../../model/bounds.ts'
import type { HostId } from '../../model/id.ts'
import { databaseErrorOf } from '../../store/database/databaseErrors.ts'
import { readFreeable } from '../../store/read/readFreeable.ts'
import { readUnsettled, type Unsettled } from '../../store/read/readUnsettled.ts'
import type { WorkersContext } from './workersContext.ts'

type Parts = Pick<WorkersContext, 'committer' | 'database'>

/**
 * Tells the services of these hosts what can be told now. A service that could not be told is told later, when the
 * workers' leases are judged.
 */
export async function tellServicesIfPossible(
  parts: Parts & Pick<WorkersContext, 'log'>,
  hosts: readonly HostId[],
): Promise<void> {
  try {
    await tellServices(parts, hosts)
  } catch (error) {
    logAndGoOn(parts, error, 'A service was not told what became of its workers.')
  }
}

/**
 * Logs a fault of one service, so that the others and the worker go on. An error of the database stops everything and
 * is thrown.
 */
export function logAndGoOn({ log }: Pick<WorkersContext, 'log'>, error: unknown, sentence: string): void {
  if (databaseErrorOf(error) !== null) throw error
  log.error({ err: error }, sentence)
}

/**
 * Tells the services what became of the workers of these hosts that run their replicas, and of the hosts' addresses
 * (R12, R15). It submits one intent per worker and service, at most a commit's worth at once, and repeats until nothing
 * is left to tell. Whoever looks next finds what a dead server left half told; telling twice changes nothing.
 * Afterwards hosts get back the ports that were kept for workers of which nothing is left. A service that can't be told
 * does not keep the others from being told; the promise then rejects with its error.
 */
export async function tellServices(parts: Parts, hosts: readonly HostId[] | 'all'): Promise<void> {
  let failures: readonly PromiseRejectedResult[] = []
  for (;;) {
    const unsettled = await readUnsettled(parts.database, hosts)
    const told = await tell(parts, unsettled)
    failures = told.failures
    // When nothing changed, another server was faster: it has told them or is telling them now.
    if (!told.changed) break
  }
  for (const hostId of await readFreeable(parts.database)) await parts.committer.write({ kind: 'freePorts', hostId })
  for (const { reason } of failures) throw reason
}

async function tell(
  { committer }: Parts,
  unsettled: readonly Unsettled[],
): Promise<{ readonly changed: boolean; readonly failures: readonly PromiseRejectedResult[] }> {
  let changed = false
  const failures: PromiseRejectedResult[] = []
  for (let from = 0; from < unsettled.length; from += intentsPerCommit) {
    const batch = unsettled.slice(from, from + intentsPerCommit)
    const outcomes = await Promise.allSettled(
      batch.map(({ serviceId, ...intent }) => committer.submit(serviceId, intent)),
    )
    changed ||= outcomes.some(
      (outcome) => outcome.status === 'fulfilled' && outcome.value.kind === 'done' && outcome.value.changed,
    )
    failures.push(...outcomes.filter((outcome) => outcome.status === 'rejected'))
  }
  return { changed, failures }
}
