import { intentsPerCommit } from '../../model/bounds.ts'
import type { HostId } from '../../model/id.ts'
import { databaseErrorOf } from '../../store/database/databaseErrors.ts'
import { readFreeable } from '../../store/read/readFreeable.ts'
import { readUnsettled, type Unsettled } from '../../store/read/readUnsettled.ts'
import type { ServerContext } from '../serverContext.ts'

type Parts = Pick<ServerContext, 'committer' | 'database'>

/** Settles the hosts as far as it goes now: a service that can't be told is told a while later, by the leases of workers. */
export async function tellServicesIfPossible(
  parts: Parts & Pick<ServerContext, 'log'>,
  hosts: readonly HostId[],
): Promise<void> {
  try {
    await tellServices(parts, hosts)
  } catch (error) {
    logAndGoOn(parts, error, 'A service was not told what became of its workers.')
  }
}

/** Something is wrong with a service: the others, and the worker, go on. With the database nothing goes on. */
export function logAndGoOn({ log }: Pick<ServerContext, 'log'>, error: unknown, sentence: string): void {
  if (databaseErrorOf(error) !== null) throw error
  log.error({ err: error }, sentence)
}

/**
 * Tells the services what became of the workers of these hosts that run their replicas, and of the hosts' addresses (R12, R15): one intent per
 * worker and service, a commit's worth at once, again until nothing is left to tell. What a server left half done is found by whoever looks next; told
 * twice, it changes nothing. Then hosts get the ports back that were kept for workers of which nothing is left. A service that can't be told keeps
 * nobody from the rest: afterwards this rejects with why.
 */
export async function tellServices(parts: Parts, hosts: readonly HostId[] | 'all'): Promise<void> {
  let failures: readonly PromiseRejectedResult[] = []
  for (;;) {
    const unsettled = await readUnsettled(parts.database, hosts)
    const told = await tell(parts, unsettled)
    failures = told.failures
    // Without a change something else was faster: it has told them, or tells them now.
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
    changed ||= outcomes.some((said) => said.status === 'fulfilled' && said.value.kind === 'done' && said.value.changed)
    failures.push(...outcomes.filter((outcome) => outcome.status === 'rejected'))
  }
  return { changed, failures }
}
