import { expect } from 'vitest'
import type { ApiClient } from './apiClient.ts'
import { createService } from './apiService.ts'
import { built } from './built.ts'
import { EndpointWatch, type WatchedAddress } from './endpointWatch.ts'
import { ServerProcess } from './serverProcess.ts'
import { until } from './until.ts'
import { WorkerProcess } from './workerProcess.ts'

/** A server and workers as processes, the workers as hosts of their own, with a short lease and grace. */
export class HostScene {
  readonly server: ServerProcess
  readonly #workers: WorkerProcess[] = []
  readonly #watches: EndpointWatch[] = []
  #ports = 21_000

  private constructor(server: ServerProcess) {
    this.server = server
  }

  static async start(leaseSeconds: number, graceSeconds: number): Promise<HostScene> {
    const scene = new HostScene(new ServerProcess({ XCE_LEASE_SECONDS: String(leaseSeconds), XCE_GRACE_SECONDS: String(graceSeconds) }))
    await scene.server.start()
    return scene
  }

  get client(): ApiClient {
    return this.server.client()
  }

  async worker(name: string): Promise<WorkerProcess> {
    const worker = new WorkerProcess(this.server, name, this.#ports)
    this.#ports += 100
    this.#workers.push(worker)
    worker.start()
    await this.becomes(name, 'REACHABLE')
    return worker
  }

  /** Of the example replica: an HTTP server on one port, any free, with a readiness probe. */
  async service(name: string, replicas: number, stop: Record<string, unknown> = {}): Promise<EndpointWatch> {
    await createService(this.client, name, replicas, {
      command: [process.execPath, built('examples/helloServer.js')],
      readiness: { http: { port: 'http', path: '/healthz' }, periodSeconds: 1 },
      stop: { drainSeconds: 0, graceSeconds: 10, ...stop },
    })
    const watch = this.watch(name)
    await watch.until(`${replicas} addresses`, (table) => table.length === replicas, 90)
    return watch
  }

  watch(name: string): EndpointWatch {
    const watch = new EndpointWatch(this.client, name)
    this.#watches.push(watch)
    return watch
  }

  becomes(host: string, reachability: string): Promise<unknown> {
    const query = 'query ($name: String!) { host(name: $name) { reachability } }'
    const client = this.client
    return until(
      async () => (await client.ask<{ host: { reachability: string } | null }>(query, { name: host })).host?.reachability === reachability,
      `host ${host} is ${reachability}`,
      90,
    )
  }

  /** Ends everything; nothing may be left, and no watch may have seen what it must not. */
  async clean(failed: boolean): Promise<void> {
    if (failed) console.error(this.server.output, ...this.#workers.map(({ output }) => output))
    for (const watch of this.#watches) watch.close()
    // Replicas run on without a worker; here they end with the scene.
    for (const worker of this.#workers) await worker.end('SIGUSR2')
    const left = await this.server.clean()
    if (failed) return
    expect(this.#watches.flatMap(({ faults }) => faults)).toEqual([])
    expect(left).toEqual([])
  }
}

/** Whose ports these are tells the host. */
export const portOf = ({ hostPort }: WatchedAddress): number => Number(hostPort.split(':').at(-1))

export async function pidOf({ hostPort }: WatchedAddress): Promise<number> {
  return ((await (await fetch(`http://${hostPort}/`)).json()) as { pid: number }).pid
}
