import { randomUUID } from 'node:crypto'
import { graceSeconds, leaseSeconds } from '../../../src/model/bounds.ts'
import type { HostId, ProfileRevisionId, ProjectId, QueueId, ServiceId, WorkerId } from '../../../src/model/id.ts'
import type { NewService, Reporter } from '../../../src/model/intent.ts'
import type { ServiceSnapshot } from '../../../src/model/service.ts'
import { place } from '../../../src/rules/placement/placement.ts'
import { Committer, type CommitterOptions } from '../../../src/store/commit/committer.ts'
import type { RegisterWorker } from '../../../src/store/commit/outcome.ts'
import { DatabaseClock, synchronise } from '../../../src/store/database/clock.ts'
import type { Database } from '../../../src/store/database/database.ts'
import { readPlacement } from '../../../src/store/read/readPlacement.ts'
import { loadSnapshots } from '../../../src/store/read/snapshot.ts'
import { silent } from '../fixtures/databases.ts'
import { content, newService, reportOf, type ServiceGiven, settings } from '../fixtures/services.ts'

/** Of all registrations here, so that each is later than those before it of the same state directory. */
let registrations = 0

/** What a worker says that registers. */
export function registrationOf(
  over: Partial<RegisterWorker> & Pick<RegisterWorker, 'name' | 'host'>,
): Omit<RegisterWorker, 'kind'> {
  return {
    addresses: ['10.0.0.1'],
    cpuMillis: 64_000,
    memoryMiB: 64_000,
    portRange: { from: 20_000, to: 32_000 },
    reservedPorts: [],
    softwareVersion: '1',
    protocolVersion: 1,
    // Its state directory: the same name again is a restart, where nothing else is said.
    stateDirectoryId: `of ${over.name}`,
    registrationNumber: ++registrations,
    subject: 'worker',
    asAdmin: false,
    clean: true,
    leaseSeconds,
    graceSeconds,
    ...over,
  }
}

/** One server's way into a database, with what tests do over and over. */
export class TestStore {
  readonly database: Database
  readonly clock: DatabaseClock
  readonly committer: Committer

  private constructor(database: Database, clock: DatabaseClock, more: Pick<CommitterOptions, 'versionsKept'>) {
    this.database = database
    this.clock = clock
    this.committer = new Committer({ database, clock, newId: randomUUID, log: silent, ...more })
  }

  static async on(database: Database, more: Pick<CommitterOptions, 'versionsKept'> = {}): Promise<TestStore> {
    const clock = new DatabaseClock()
    await synchronise(clock, database)
    return new TestStore(database, clock, more)
  }

  /** A service of the default project whose name and profile are its own. */
  async newService(over: ServiceGiven = {}): Promise<NewService> {
    const id = (over.id ?? randomUUID()) as ServiceId
    const profile = await this.committer.write({
      kind: 'applyProfile',
      allowDropping: false,
      name: `p${id.slice(0, 8)}`,
      content: over.content ?? content(),
      settings: settings(),
      actor: 'test',
    })
    if (profile.kind !== 'profile') throw new Error('no profile')
    const project = await this.database.prisma.project.findUniqueOrThrow({
      where: { name: over.projectName ?? 'default' },
    })
    const queue = await this.database.prisma.queue.findUniqueOrThrow({ where: { name: 'default' } })
    return newService({
      id,
      name: `s${id.slice(0, 8)}`,
      projectId: project.id as ProjectId,
      queueId: queue.id as QueueId,
      profileRevisionId: profile.profileRevisionId as ProfileRevisionId,
      ...over,
    })
  }

  async create(over: ServiceGiven = {}): Promise<ServiceId> {
    const service = await this.newService(over)
    const outcome = await this.committer.create(service, 'test')
    if (outcome.kind !== 'done') throw new Error(`not created: ${JSON.stringify(outcome)}`)
    return service.id
  }

  scale(id: ServiceId, replicas: number, expectedRevision: bigint | null = null) {
    return this.committer.submit(id, { kind: 'scale', replicas, expectedRevision, actor: 'test' })
  }

  async register(over: Partial<RegisterWorker> = {}): Promise<Reporter> {
    const name = over.name ?? `w${randomUUID().slice(0, 8)}`
    const worker = await this.committer.write({
      kind: 'registerWorker',
      ...registrationOf({ name, host: `h-${name}`, ...over }),
    })
    if (worker.kind !== 'worker') throw new Error('not registered')
    return { workerId: worker.workerId as WorkerId, hostId: worker.hostId as HostId, epoch: worker.epoch }
  }

  /** One run of placement, as the placer does it, for these services. Returns the replicas that were granted. */
  async place(ids: readonly ServiceId[]): Promise<number> {
    const { waiting, hosts, projects } = await readPlacement(this.database)
    const { grants } = place({
      waiting: waiting.filter(({ serviceId }) => ids.includes(serviceId)),
      hosts,
      projects,
      now: this.clock.now(),
    })
    const services = new Set(grants.map(({ serviceId }) => serviceId))
    const outcomes = await Promise.all(
      [...services].map(async (id) => {
        const own = grants.filter(({ serviceId }) => serviceId === id)
        const outcome = await this.committer.submit(id, { kind: 'grant', grants: own })
        return outcome.kind === 'done' && outcome.changed ? own.length : 0
      }),
    )
    return outcomes.reduce((sum, count) => sum + count, 0)
  }

  /** What the database has now. */
  async load(id: ServiceId): Promise<ServiceSnapshot> {
    const snapshot = (await loadSnapshots(this.database.prisma, [id])).get(id)
    if (!snapshot) throw new Error(`no service ${id}`)
    return snapshot
  }

  /** The worker says of all its replicas of the service that they run and are ready. */
  async reportReady(id: ServiceId, reporter: Reporter, sequence: number) {
    const { replicas } = await this.load(id)
    const own = [...replicas.values()].filter(({ hostId }) => hostId === reporter.hostId)
    return this.committer.submit(id, {
      kind: 'report',
      reporter,
      sequence,
      reports: own.map((replica) => reportOf(replica)),
    })
  }
}

/** A snapshot as plain data in a fixed order, however its maps are made. */
export function comparable(snapshot: ServiceSnapshot) {
  return {
    ...snapshot,
    versions: [...snapshot.versions].sort(([a], [b]) => a - b),
    contents: [...snapshot.contents],
    replicas: [...snapshot.replicas],
    hosts: [...snapshot.hosts].sort(),
    timers: [...snapshot.timers].sort(),
  }
}
