import type { AllocatedPort } from '../../src/model/content.ts'
import type { HostId, ReplicaId, ServiceId, WorkerId } from '../../src/model/id.ts'
import { createService, placedReplicas } from '../support/drivers/apiService.ts'
import type { HandWorker } from '../support/drivers/handWorker.ts'
import { EventStream } from '../support/drivers/sse.ts'
import type { TestServer } from '../support/drivers/testServer.ts'
import { reportOf } from '../support/fixtures/services.ts'
import { type Frame, Subscriber } from './subscriber.ts'

/** A subscriber that reads only while it is awake. */
export interface Sleeper {
  /** The next frame; only one that is awake may ask. */
  frame(): Promise<Frame>
  sleep(): void
  wake(): void
  close(): Promise<void>
}

type Open = (server: TestServer, query: string) => Promise<Sleeper>

/**
 * By every transport, with frames of so many KiB that the kernel's buffers are soon full. On event streams no frame fills the response's own
 * buffer by itself, so that what waits elsewhere is seen. A socket that answers no ping is dead after half a minute: it has less time.
 */
export const sleepers: readonly (readonly [transport: string, frameKiB: number, open: Open])[] = [
  ['a WebSocket', 200, openSocket],
  [
    'server-sent events of one request',
    12,
    async ({ client }, query) => ofStream(await EventStream.open(client, query)),
  ],
  [
    "graphql-sse's distinct connections",
    12,
    async (server, query) =>
      ofStream(await EventStream.open({ url: server.at('/graphql/stream'), token: server.client.token }, query)),
  ],
  ["graphql-sse's single connection", 12, async (server, query) => ofStream(await openSingle(server, query))],
]

async function openSocket({ client }: TestServer, query: string): Promise<Sleeper> {
  const subscriber = await Subscriber.open(client)
  subscriber.subscribe(query)
  return {
    frame: () => subscriber.frame(),
    sleep: () => subscriber.socket.pause(),
    wake: () => subscriber.socket.resume(),
    close: () => subscriber.close(),
  }
}

/** It reads from its connection only when it is asked for a frame. */
function ofStream(stream: EventStream): Sleeper {
  return {
    frame: async () => {
      const event = await stream.next()
      const { payload, ...own } = (event?.data ?? {}) as { payload?: object }
      const { data } = (payload ?? own) as { data?: Record<string, Frame> }
      const [frame] = Object.values(data ?? {})
      if (frame === undefined) throw new Error(`No frame: ${JSON.stringify(event)}`)
      return frame
    },
    sleep: () => undefined,
    wake: () => undefined,
    close: async () => stream.close(),
  }
}

async function openSingle(server: TestServer, query: string): Promise<EventStream> {
  const { stream, send } = await openSingleConnection(server)
  await send('1', query)
  return stream
}

/** An event stream of graphql-sse's single connection mode, and what sends an operation whose results it gets. */
export async function openSingleConnection(server: TestServer) {
  const { client } = server
  const url = server.at('/graphql/stream')
  const headers = { authorization: `Bearer ${client.token}` }
  const own = {
    ...headers,
    'x-graphql-event-stream-token': await (await fetch(url, { method: 'PUT', headers })).text(),
  }
  const stream = await EventStream.request(url, { headers: { ...own, accept: 'text/event-stream' } })
  const send = async (operationId: string, query: string) => {
    const body = JSON.stringify({ query, extensions: { operationId } })
    const { status } = await fetch(url, {
      method: 'POST',
      headers: { ...own, 'content-type': 'application/json' },
      body,
    })
    if (status !== 202) throw new Error(`The operation is answered with ${status}.`)
  }
  return { stream, send }
}

/** One service with one replica, whose frames are as large as asked. */
export class FlippingService {
  readonly name: string
  readonly #submit: (ready: boolean, sequence: number) => Promise<unknown>
  #flips = 0

  private constructor(name: string, submit: (ready: boolean, sequence: number) => Promise<unknown>) {
    this.name = name
    this.#submit = submit
  }

  static async on({ app, client }: TestServer, worker: HandWorker, name: string): Promise<FlippingService> {
    const long = Array.from({ length: 15 }, (_, index) => `host-${index}.${'long-'.repeat(48)}name`)
    const { epoch } = await worker.register([], { addresses: ['127.0.0.1', ...long] })
    await createService(client, name, 1, { readiness: { tcp: { port: 'http' }, periodSeconds: 1 } })
    await placedReplicas(client, name, 1)
    const replica = await app.database.prisma.replica.findFirstOrThrow({
      where: { service: { name } },
      include: { host: { include: { workers: true } } },
    })
    const reporter = { hostId: replica.hostId as HostId, workerId: replica.host?.workers[0]?.id as WorkerId, epoch }
    const { id, start } = replica
    const ports = replica.ports as unknown as readonly AllocatedPort[]
    return new FlippingService(name, (ready, sequence) =>
      app.committer.submit(replica.serviceId as ServiceId, {
        kind: 'report',
        reporter,
        sequence,
        reports: [reportOf({ id: id as ReplicaId, start, ports }, { ready })],
      }),
    )
  }

  /** A subscription whose frames have about so many KiB. */
  document(kib: number): string {
    const copies = Array.from(
      { length: Math.ceil(kib / 4) },
      (_, index) => `x${index}: endpoint { addresses(includeNotReady: true) { addresses } }`,
    )
    return `subscription { endpointChanged(service: { name: "${this.name}" }, includeNotReady: true) { kind revision ${copies.join(' ')} } }`
  }

  /** The replica turns ready, or unready: one commit, as by its worker. */
  async flip(): Promise<void> {
    this.#flips++
    await this.#submit(this.#flips % 2 === 1, this.#flips)
  }
}

/** What a sleeper hears once it is awake, up to `head`. */
export async function heardUpTo(sleeper: Sleeper, head: bigint): Promise<readonly Frame[]> {
  const frames: Frame[] = []
  for (let revision = 0n; revision < head; ) {
    const frame = await sleeper.frame()
    revision = BigInt(frame.revision)
    frames.push(frame)
  }
  return frames
}
