import type { HostId, ReplicaId, WorkerId } from '../model/id.ts'
import type { ReplicaReport, Reporter } from '../model/intent.ts'
import type { Refusal } from '../model/refusal.ts'
import { isSame } from '../rules/workerName.ts'
import type { RegisterWorker } from '../store/commit/outcome.ts'
import type { App } from './app.ts'
import { ownersOf, reportsByService, servicesOn } from './replicaOwners.ts'
import { settleHosts } from './settleHosts.ts'

export interface Registered {
  readonly kind: 'registered'
  readonly workerId: WorkerId
  readonly hostId: HostId
  readonly epoch: number
  /** What runs there and should not: replicas that are not this worker's, or that have ended. */
  readonly stop: readonly ReplicaId[]
}

type Parts = Pick<App, 'committer' | 'database'>

/**
 * A worker (re)starts (R15): it gets a new epoch, which fences what it said before; then each service that has replicas there, or that it still
 * runs replicas of, adopts them in a commit of its own.
 */
export async function registerWorker(
  parts: Parts,
  worker: Omit<RegisterWorker, 'kind'>,
  running: readonly ReplicaReport[],
  /** An admin may register a worker that another token registered before. */
  asAdmin: boolean,
): Promise<Registered | { readonly kind: 'refused'; readonly refusal: Refusal }> {
  const known = await parts.database.prisma.worker.findUnique({
    where: { name: worker.name },
    select: { id: true, epoch: true, name: true, instance: true, hostId: true, subject: true, host: { select: { name: true } } },
  })
  if (known !== null && known.subject !== worker.subject && !asAdmin) {
    const message = `Worker ${worker.name} was registered with another token: use that one, or another name.`
    return { kind: 'refused', refusal: { code: 'FORBIDDEN', message } }
  }
  if (known !== null && known.host.name !== worker.host && isSame(known, { name: worker.name, instance: worker.instance ?? null })) {
    await leaveHost(parts, known, worker.host)
  }
  const alive = running.flatMap(({ replica, state }) => (state === 'ENDED' ? [] : [replica]))
  const outcome = await parts.committer.write({ kind: 'registerWorker', ...worker, clean: alive.length === 0 })
  if (outcome.kind === 'refused') return outcome
  if (outcome.kind !== 'worker') throw new Error(`A registration was answered with ${outcome.kind}.`)
  const { workerId, hostId, epoch } = outcome
  // It was lost, and is so until it has stopped what was replaced meanwhile: it says so by a full report without that.
  if (!outcome.returned) return { kind: 'registered', workerId, hostId, epoch, stop: alive }
  const reporter: Reporter = { workerId, hostId, epoch }
  const host = { id: hostId, name: worker.host, addresses: worker.addresses }

  const said = running.map((report) => report.replica)
  const reports = reportsByService(running, await ownersOf(parts.database, said))
  const services = new Set([...reports.keys(), ...(await servicesOn(parts.database, { hostId }))])
  await Promise.all(
    [...services].map((id) => parts.committer.submit(id, { kind: 'adopt', reporter, host, running: reports.get(id) ?? [] })),
  )

  const owners = await ownersOf(parts.database, said)
  return { kind: 'registered', workerId, hostId, epoch, stop: alive.filter((replica) => !owners.get(replica)?.aliveOn(reporter)) }
}

/** What it ran on the host before ends there: it is told to stop that, and takes nothing on the new host before it has. */
async function leaveHost(
  parts: Parts,
  worker: { readonly id: string; readonly hostId: string; readonly epoch: number },
  to: string,
): Promise<void> {
  const hostId = worker.hostId as HostId
  await parts.committer.write({ kind: 'leaveHost', hostId, workerId: worker.id as WorkerId, epoch: worker.epoch, to })
  await settleHosts(parts, [hostId])
}
