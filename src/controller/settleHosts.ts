import { intentsPerCommit } from '../model/bounds.ts'
import type { HostId } from '../model/id.ts'
import { readFreeable } from '../store/readFreeable.ts'
import { readUnsettled, type Unsettled } from '../store/readUnsettled.ts'
import type { App } from './app.ts'

type Parts = Pick<App, 'committer' | 'database'>

/**
 * Tells the services what became of the workers of these hosts that run their replicas (R15): one intent per worker and service, a commit's worth at once, again
 * until nothing is left to tell. What a server left half done is found by whoever looks next; told twice, it changes nothing. Then hosts get the ports
 * back that were kept for workers of which nothing is left.
 */
export async function settleHosts(parts: Parts, hosts: readonly HostId[] | 'all'): Promise<void> {
  for (;;) {
    const unsettled = await readUnsettled(parts.database, hosts)
    // Without a change something else was faster: it has told them, or tells them now.
    if (unsettled.length === 0 || !(await tell(parts, unsettled))) break
  }
  for (const hostId of await readFreeable(parts.database)) await parts.committer.write({ kind: 'freePorts', hostId })
}

async function tell({ committer }: Parts, unsettled: readonly Unsettled[]): Promise<boolean> {
  let changed = false
  for (let from = 0; from < unsettled.length; from += intentsPerCommit) {
    const batch = unsettled.slice(from, from + intentsPerCommit)
    const outcomes = await Promise.all(batch.map(({ serviceId, kind, worker }) => committer.submit(serviceId, { kind, worker })))
    changed ||= outcomes.some((outcome) => outcome.kind === 'done' && outcome.changed)
  }
  return changed
}
