import type { Worker } from '../../../generated/prisma/client.ts'
import { type Identifying, type Identity, identify } from '../../../rules/hosts/registration.ts'
import { isSame } from '../../../rules/hosts/workerName.ts'
import type { Database } from '../../database/database.ts'

/** A worker with the name of its host. */
export type KnownWorker = Worker & { readonly host: string }

/** The worker that registers, and the one whose name it takes over, as the database has them now (R15). */
export async function readIdentity({ prisma }: Database, change: Identifying): Promise<Identity<KnownWorker>> {
  const { name, stateDirectoryId, graceSeconds } = change
  const rows = await prisma.worker.findMany({
    where: { OR: [{ name }, { stateDirectoryId }] },
    include: { host: { select: { name: true } } },
    orderBy: { registeredAt: 'desc' },
  })
  const workers = rows.map((row) => ({ ...row, host: row.host.name }))
  const named = workers.find((worker) => worker.name === name) ?? null
  const alike = workers.filter((worker) => isSame(worker, change))
  const freeAt = named ? new Date(named.leaseUntil.getTime() + graceSeconds * 1_000).toISOString() : ''
  return identify<KnownWorker>(change, named, alike, freeAt)
}
