import type { Worker } from '../../../generated/prisma/client.ts'
import { type Identity, identify, type Registering } from '../../../rules/hosts/registration.ts'
import type { Database } from '../../database/database.ts'
import type { RegisterWorker } from '../outcome.ts'

/** With the name of its host. */
export type KnownWorker = Worker & { readonly host: string }

/** Which worker registers, and whose name it takes over, as the database has them now (R15). */
export async function readIdentity(
  { prisma }: Database,
  change: Omit<RegisterWorker, 'kind'>,
): Promise<Identity<KnownWorker>> {
  const { name } = change
  const instance = change.instance ?? null
  const rows = await prisma.worker.findMany({
    where: instance === null ? { name } : { OR: [{ name }, { instance }] },
    include: { host: { select: { name: true } } },
    orderBy: { registeredAt: 'desc' },
  })
  const workers = rows.map((row) => ({ ...row, host: row.host.name }))
  const named = workers.find((worker) => worker.name === name) ?? null
  const alike = workers.filter((worker) => instance !== null && worker.instance === instance)
  return identify<KnownWorker>(registeringOf(change), named, alike)
}

export function registeringOf(change: Omit<RegisterWorker, 'kind'>): Registering {
  return { ...change, instance: change.instance ?? null }
}
