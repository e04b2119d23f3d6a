import type { Database } from '../../src/store/database/database.ts'
import { shownOf } from '../feed/shownOf.ts'
import { processesWith } from '../support/fixtures/processes.ts'
import { until } from '../support/fixtures/until.ts'
import { replicaOf } from './chaos.ts'
import type { Cluster } from './cluster.ts'
import type { Judge } from './judge.ts'
import type { SoakFollower } from './soakFollower.ts'
import type { SoakSubscriber } from './soakSubscriber.ts'

const restSeconds = 150

/**
 * Once nothing is struck and nothing asked any more: every service comes to rest with all it should have, every subscriber has its table, every
 * address is answered by its replica, and no process runs that is no replica's. Returns what is not so, as sentences.
 */
export async function judgeQuiet(
  database: Database,
  judge: Judge,
  subscribers: readonly SoakSubscriber[],
  followers: readonly SoakFollower[],
  cluster: Cluster,
): Promise<readonly string[]> {
  const faults: string[] = []
  const say = (error: unknown) => void faults.push(error instanceof Error ? error.message : String(error))
  await until(async () => (await restless(database)).length === 0, 'all services are at rest', restSeconds).catch(
    async (error) => {
      say(error)
      faults.push(...(await restless(database)))
    },
  )
  await judge.look()
  for (const { record } of subscribers) {
    const shown = () => JSON.stringify(shownOf(judge.tableAt(record.service, judge.revision), record.view))
    await until(() => record.tableText === shown(), 'its last frame', 60).catch(() =>
      say(`A subscriber of ${record.service} ends with ${record.tableText}, and it is ${shown()}.`),
    )
  }
  for (const follower of followers) {
    const hasAll = async () => {
      await judge.log.take()
      follower.check(judge.log)
      return follower.missing(judge.log).length === 0
    }
    await until(hasAll, 'its last frame', 60).catch(() =>
      say(`A subscriber of ${follower.name} ends without ${JSON.stringify(follower.missing(judge.log))}.`),
    )
  }
  faults.push(...(await unanswered(database, judge)))
  faults.push(...(await strangers(database, cluster)))
  return faults
}

/** Services that are not at rest, and why. */
async function restless({ prisma }: Database): Promise<string[]> {
  const services = await prisma.service.findMany({
    where: { deletedAt: null },
    include: { replicas: { where: { state: { not: 'ENDED' } } } },
  })
  return services
    .filter(({ status, replicas, desiredReplicas, availableReplicas }) => {
      const atRest = status === 'HEALTHY' || status === 'STOPPED'
      return !atRest || replicas.length !== desiredReplicas || availableReplicas !== desiredReplicas
    })
    .map(
      ({ name, status, desiredReplicas, availableReplicas, replicas, blockers }) =>
        `${name} is ${status}: ${availableReplicas} of ${desiredReplicas} are available, ${replicas.length} alive; ${JSON.stringify(blockers)}`,
    )
}

/** Ready addresses that their replica does not answer. */
async function unanswered({ prisma }: Database, judge: Judge): Promise<string[]> {
  const names = (await prisma.service.findMany({ where: { deletedAt: null }, select: { name: true } })).map(
    ({ name }) => name,
  )
  const ready = names.flatMap((name) => judge.tableAt(name, judge.revision).filter((address) => address.ready))
  const answers = await Promise.all(
    ready.map(async ({ address, port, replicaId }) => {
      try {
        const response = await fetch(`http://${address}:${port}/`, { signal: AbortSignal.timeout(10_000) })
        const { replica } = (await response.json()) as { replica: string }
        return replica === `Replica_${replicaId}`
          ? []
          : [`${address}:${port} is ${replicaId}'s, and ${replica} answers.`]
      } catch (error) {
        return [`${address}:${port} of ${replicaId} is ready and does not answer: ${String(error)}`]
      }
    }),
  )
  return answers.flat()
}

/** Processes of replicas that have ended, and replicas without a process. */
async function strangers({ prisma }: Database, { directory }: Cluster): Promise<string[]> {
  const wrong = async () => {
    const rows = await prisma.replica.findMany({ where: { state: { not: 'ENDED' } }, select: { id: true } })
    const alive = new Set(rows.map(({ id }) => `Replica_${id}`))
    const running = new Set(processesWith(`SOAK_RUN=${directory}`).flatMap((pid) => replicaOf(pid) ?? []))
    return [
      ...[...running].filter((id) => !alive.has(id)).map((id) => `${id} has ended, and its process runs.`),
      ...[...alive].filter((id) => !running.has(id)).map((id) => `${id} is alive, and has no process.`),
    ]
  }
  return until(async () => (await wrong()).length === 0, 'processes are replicas', 30).then(() => [], wrong)
}
