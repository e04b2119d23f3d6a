import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { buildSchema, GraphQLError } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { type WebSocket, WebSocketServer } from 'ws'
import type { LogAnswer } from '../../../src/model/replicaLog.ts'
import type { PortOfHost, WatchedPort } from '../../../src/model/watchedPort.ts'
import { type Greeting, serverProtocols } from '../../../src/model/workerProtocol.ts'
import type { Assignment, Report } from '../../../src/worker/assignment.ts'
import type { LogRequest, RegisterWorkerInput, WireAssignment } from '../../../src/worker/link/api.ts'
import { freePort } from '../fixtures/freePort.ts'

/** The protocol as it is printed. */
const schema = buildSchema(
  readFileSync(new URL('../../../src/graphql/workerProtocol/worker.graphql', import.meta.url), 'utf8'),
)

interface Change {
  readonly kind: 'SNAPSHOT' | 'DELTA'
  readonly revision: string
  readonly last: boolean
  readonly assignments: readonly WireAssignment[]
  readonly removed: readonly string[]
  readonly logRequests: readonly LogRequest[]
}

interface ReportInput {
  readonly worker: string
  readonly epoch: number
  readonly sequence: number
  readonly full: boolean
  readonly reports: readonly Report[]
}

const fenced = { __typename: 'FencedError', code: 'FENCED', message: 'another registration' }

/** A server that a worker's side of the protocol is tested against: real sockets, the printed schema, and its state in memory. */
export class WorkerServer {
  readonly token = 'the-token'
  readonly registrations: RegisterWorkerInput[] = []
  readonly reports: ReportInput[] = []
  readonly answers: (LogAnswer & { readonly request: string })[] = []
  readonly assignments = new Map<string, Assignment>()
  /** Called when a worker asks for its assignments, before the SNAPSHOT is sent. */
  onFollow = (): void => undefined
  /** A registration's number must be above it. */
  newestRegistration = 0
  epoch = 0
  renewals = 0
  drains = 0
  /** How often a worker said that it has ended. */
  ends = 0
  leaseSeconds = 15
  graceSeconds = 60
  /** Answered to registrations and to reports of a taken port. */
  portsToWatch: WatchedPort[] = []
  readonly freedPorts: PortOfHost[] = []
  /** Answered to the next renewal. */
  resync = false
  /** Answered to the next registration, and to the next report. */
  stale: string[] = []
  /** The next report of an end is taken, but its worker does not hear of it: the connection is cut. */
  cutsNextEnd = false
  /** Of a SNAPSHOT. */
  partSize = 500
  /** By registrations and by reports, in the order in which they came. */
  readonly #told: Report[] = []
  #followers = new Set<(change: Change) => void>()
  #sockets = new Set<WebSocket>()
  #http: Server | null = null
  #port = 0

  get url(): string {
    return `http://127.0.0.1:${this.#port}/graphql`
  }

  get connections(): number {
    return this.#sockets.size
  }

  get followers(): number {
    return this.#followers.size
  }

  /** The last state that was reported of a replica, also by a registration. */
  reported(replica: string): Report | undefined {
    return this.#told.filter((report) => report.replica === replica).at(-1)
  }

  /** Every replica that was ever reported. */
  get known(): string[] {
    return [...new Set(this.#told.map(({ replica }) => replica))]
  }

  /** On the same port as before, if there was one. */
  async start(): Promise<void> {
    const http = createServer()
    const sockets = new WebSocketServer({ server: http, path: '/worker' })
    sockets.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    const authorization = `Bearer ${this.token}`
    useServer(
      {
        schema,
        roots: this.#roots(),
        onConnect: ({ connectionParams }) => connectionParams?.['authorization'] === authorization && this.#greeting(),
      },
      sockets,
    )
    // None that the system may give to a connection while it is stopped.
    if (this.#port === 0) this.#port = await freePort()
    http.listen(this.#port, '127.0.0.1')
    await once(http, 'listening')
    this.#http = http
  }

  async stop(): Promise<void> {
    this.drop()
    const http = this.#http
    this.#http = null
    if (http !== null) await new Promise((resolve) => http.close(resolve))
  }

  /** Cuts every connection. */
  drop(code?: number): void {
    for (const socket of this.#sockets) code === undefined ? socket.terminate() : socket.close(code)
  }

  assign(assignment: Assignment): void {
    this.assignments.set(assignment.replica, assignment)
    this.#tell({ assignments: [toWire(assignment)] })
  }

  remove(replica: string): void {
    this.assignments.delete(replica)
    this.#tell({ removed: [replica] })
  }

  askForLog(request: LogRequest): void {
    this.#tell({ logRequests: [request] })
  }

  #greeting(): Greeting & Record<string, unknown> {
    const { leaseSeconds, graceSeconds } = this
    return { workerProtocol: serverProtocols, workerLease: { leaseSeconds, graceSeconds } }
  }

  #tell(change: Partial<Change>): void {
    const whole: Change = {
      kind: 'DELTA',
      revision: '2',
      last: true,
      assignments: [],
      removed: [],
      logRequests: [],
      ...change,
    }
    for (const follower of this.#followers) follower(whole)
  }

  #roots(): { query: Record<string, object>; mutation: Record<string, object>; subscription: Record<string, object> } {
    const valid = (input: { epoch: number }): boolean => input.epoch === this.epoch
    const take = (): string[] => this.stale.splice(0)
    return {
      query: { workerDrain: () => ({ draining: this.drains > 0, replicas: this.assignments.size, services: [] }) },
      mutation: {
        endWorker: ({ input }: { input: { epoch: number } }) => {
          if (!valid(input)) return fenced
          this.ends += 1
          return { __typename: 'EndWorkerPayload', worker: 'Worker_1' }
        },
        drainWorker: ({ input }: { input: { epoch: number } }) => {
          if (!valid(input)) return fenced
          this.drains += 1
          return { __typename: 'DrainWorkerPayload', worker: 'Worker_1' }
        },
        registerWorker: ({ input }: { input: RegisterWorkerInput }) => {
          this.registrations.push(input)
          const newest = this.newestRegistration
          if (input.registrationNumber <= newest)
            return { __typename: 'OvertakenError', code: 'OVERTAKEN', message: 'It is late.', newest }
          this.newestRegistration = input.registrationNumber
          this.#told.push(...input.running)
          this.epoch += 1
          const { epoch, leaseSeconds, graceSeconds } = this
          return {
            __typename: 'RegisterWorkerPayload',
            worker: 'Worker_1',
            epoch,
            leaseSeconds,
            graceSeconds,
            stop: take(),
            portsToWatch: this.portsToWatch,
          }
        },
        renewLease: ({ input }: { input: { epoch: number } }) => {
          if (!valid(input)) return fenced
          this.renewals += 1
          const resync = this.resync
          this.resync = false
          return { __typename: 'RenewLeasePayload', resync }
        },
        reportReplicas: ({ input }: { input: ReportInput }) => {
          if (!valid(input)) return fenced
          this.reports.push(input)
          this.#told.push(...input.reports)
          if (this.cutsNextEnd && input.reports.some(({ state }) => state === 'ENDED')) {
            this.cutsNextEnd = false
            this.drop()
          }
          const isTaken = input.reports.some(({ endReason }) => endReason === 'PORT_TAKEN')
          return {
            __typename: 'ReportReplicasPayload',
            fenced: take(),
            portsToWatch: isTaken ? this.portsToWatch : null,
          }
        },
        reportFreePorts: ({ input }: { input: { epoch: number; ports: PortOfHost[] } }) => {
          if (!valid(input)) return fenced
          this.freedPorts.push(...input.ports)
          return { __typename: 'ReportFreePortsPayload', changed: true }
        },
        answerLogRequest: ({ input }: { input: WorkerServer['answers'][number] & { epoch: number } }) => {
          if (!valid(input)) return fenced
          this.answers.push(input)
          return { __typename: 'AnswerLogRequestPayload', accepted: true }
        },
      },
      subscription: {
        assignmentsChanged: ({ epoch }: { epoch: number }) => {
          if (!valid({ epoch })) throw new GraphQLError('another registration', { extensions: { code: 'FENCED' } })
          return this.#follow()
        },
      },
    }
  }

  /** By hand and not as a generator: one that waits for the next change could not be ended. */
  #follow(): AsyncIterableIterator<{ assignmentsChanged: Change }> {
    this.onFollow()
    const waiting: Change[] = this.#snapshot()
    let wake = (): void => undefined
    let ended = false
    const follower = (change: Change): void => {
      waiting.push(change)
      wake()
    }
    this.#followers.add(follower)
    return {
      [Symbol.asyncIterator]() {
        return this
      },
      next: async () => {
        while (waiting.length === 0 && !ended) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
        const change = waiting.shift()
        return change === undefined || ended
          ? { done: true, value: undefined }
          : { done: false, value: { assignmentsChanged: change } }
      },
      return: async () => {
        ended = true
        this.#followers.delete(follower)
        wake()
        return { done: true, value: undefined }
      },
    }
  }

  #snapshot(): Change[] {
    const all = [...this.assignments.values()].map(toWire)
    const parts: WireAssignment[][] = []
    for (let from = 0; from === 0 || from < all.length; from += this.partSize)
      parts.push(all.slice(from, from + this.partSize))
    return parts.map((assignments, index) => {
      const rest = { removed: [], logRequests: [] }
      return { kind: 'SNAPSHOT', revision: '1', last: index === parts.length - 1, assignments, ...rest }
    })
  }
}

const noAction = { http: null, tcp: null, exec: null }

function toWire(assignment: Assignment): WireAssignment {
  const probe = (of: Assignment['readiness']): unknown => {
    if (of === null) return null
    const { action, ...times } = of
    const { kind, ...how } = action
    return { ...times, ...noAction, [kind]: how }
  }
  return {
    ...assignment,
    startup: probe(assignment.startup),
    readiness: probe(assignment.readiness),
    liveness: probe(assignment.liveness),
  } as WireAssignment
}
