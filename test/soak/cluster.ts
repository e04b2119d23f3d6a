import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { ApiClient } from '../support/drivers/apiClient.ts'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import { WorkerProcess } from '../support/drivers/workerProcess.ts'
import { freePort } from '../support/fixtures/freePort.ts'

/** Short, so that a soak sees hosts unreachable and lost; long enough for a busy machine. */
export const leaseSeconds = 5
export const graceSeconds = 8

export interface SoakServer {
  readonly name: string
  readonly process: ServerProcess
  readonly client: ApiClient
}

export interface Cluster {
  readonly directory: string
  readonly servers: readonly SoakServer[]
  readonly workers: readonly WorkerProcess[]
  /** By worker. */
  readonly hosts: ReadonlyMap<string, string>
}

/**
 * Real servers on one database, and real workers that know all servers, each on a host of its own, but for the last two of at least four, which share
 * one. Everything is in `directory`.
 */
export async function startCluster(
  directory: string,
  databaseUrl: string,
  counts: { servers: number; workers: number },
): Promise<Cluster> {
  const servers: SoakServer[] = []
  for (let number = 1; number <= counts.servers; number++) {
    const name = `server-${number}`
    const env = {
      DATABASE_URL: databaseUrl,
      XCE_PORT: String(await freePort()),
      XCE_LEASE_SECONDS: String(leaseSeconds),
      XCE_GRACE_SECONDS: String(graceSeconds),
      XCE_LOG_LEVEL: 'warn',
      // So little is kept that the size is steady within minutes.
      XCE_FACTS_KEPT: '2000',
      XCE_FACTS_KEPT_SECONDS: '60',
      XCE_EVENTS_KEPT_MOST: '2000',
      XCE_ENDED_REPLICAS_KEPT_MOST: '300',
      XCE_VERSIONS_KEPT: '20',
    }
    mkdirSync(path.join(directory, name))
    const process = new ServerProcess(env, path.join(directory, name))
    await process.start()
    servers.push({
      name,
      process,
      client: new ApiClient(process.url, readFileSync(process.file('admin-token'), 'utf8').trim()),
    })
  }
  const urls = servers.map(({ client }) => client.url).join(',')
  const [first] = servers
  if (first === undefined) throw new Error('A cluster has a server.')
  const hosts = new Map<string, string>()
  const workers = Array.from({ length: counts.workers }, (_, at) => {
    const number = at > 2 && at === counts.workers - 1 ? at : at + 1
    const [name, host] = [`worker-${at + 1}`, `host-${number}`]
    hosts.set(name, host)
    const env = { XCE_WORKER_SERVER_FILE: '', XCE_WORKER_SERVERS: urls, XCE_LOG_LEVEL: 'warn', XCE_WORKER_HOST: host }
    return new WorkerProcess(first.process, name, 21_000 + 100 * number, env)
  })
  for (const worker of workers) worker.start()
  return { directory, servers, workers, hosts }
}

/** Appends what a server has said to its log in the cluster's directory: a start forgets it. */
export function keepLog({ directory }: Cluster, { name, process }: SoakServer): void {
  appendFileSync(path.join(directory, `${name}.log`), process.output)
}
