import { randomUUID } from 'node:crypto'
import type { ServiceId } from '../../../src/model/id.ts'
import type { Reporter, WorkerIntent } from '../../../src/model/intent.ts'
import { writeHeartbeat } from '../../../src/store/access/lease.ts'
import type { JudgeWorker } from '../../../src/store/commit/outcome.ts'
import type { Database } from '../../../src/store/database/database.ts'
import { TestStore } from './store.ts'

/** Two servers' ways into one database, of which the first has a heartbeat: what it judges of workers counts. */
export function leasedStores(database: () => Database) {
  const serverId = randomUUID()
  let store: TestStore
  let other: TestStore

  async function open(): Promise<{ readonly store: TestStore; readonly other: TestStore }> {
    store = await TestStore.on(database())
    other = await TestStore.on(database())
    await writeHeartbeat(database(), serverId)
    return { store, other }
  }

  /** By the lease that the worker has now. */
  async function judge(
    { hostId, workerId }: Reporter,
    to: JudgeWorker['to'],
    over: Partial<JudgeWorker> = {},
    by = store,
  ) {
    const { leaseUntil } = await database().prisma.worker.findUniqueOrThrow({ where: { id: workerId } })
    const said = { reason: `it is ${to}`, message: to, serverId, heartbeatSeconds: 3_600 }
    return by.committer.write({
      kind: 'judgeWorker',
      hostId,
      workerId,
      to,
      leaseUntil: leaseUntil.getTime(),
      ...said,
      ...over,
    })
  }

  /** A service hears what is so of a worker. */
  const tell = (id: ServiceId, kind: WorkerIntent['kind'], { workerId }: Reporter, by = store) =>
    by.committer.submit(id, { kind, worker: workerId })

  /** The next host is the only one that is open. */
  const cordonAll = () =>
    database().prisma.host.updateMany({ data: { scheduling: 'CORDONED', allocation: { increment: 1 } } })

  return { open, judge, tell, cordonAll }
}
