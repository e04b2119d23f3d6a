import type { Content } from '../../src/model/content.ts'
import type { Grant } from '../../src/model/host.ts'
import type {
  HostId,
  Instant,
  ProfileRevisionId,
  ProjectId,
  QueueId,
  ReplicaId,
  ServiceId,
  WorkerId,
} from '../../src/model/id.ts'
import type { NewService, ReplicaReport, Reporter } from '../../src/model/intent.ts'
import type { Replica } from '../../src/model/service.ts'
import type { Settings } from '../../src/model/settings.ts'
import type { Context } from '../../src/rules/context.ts'

// Builders of what the rules decide on. Everything is plain data; names are short because tests are full of them.

/** An instant to begin with: only differences matter. */
export const epochMillis = 1_000_000_000_000

export const content = (over: Partial<Content> = {}): Content => ({
  command: ['/bin/serve'],
  env: [],
  workingDirectory: null,
  ports: [{ name: 'http', port: null, protocol: 'TCP' }],
  cpuMillis: 100,
  memoryMiB: 64,
  readiness: {
    action: { kind: 'http', port: 'http', path: '/' },
    initialDelaySeconds: 0,
    periodSeconds: 1,
    timeoutSeconds: 1,
    failureThreshold: 3,
    successThreshold: 1,
  },
  liveness: null,
  restart: { maxAttempts: 3, windowSeconds: 600, delaySeconds: 1 },
  stop: { signal: 'TERM', drainSeconds: 3, graceSeconds: 10, onLostContact: 'KEEP' },
  ...over,
})

export const settings = (over: Partial<Settings> = {}): Settings => ({
  replicas: 1,
  spreadMode: 'BEST_EFFORT',
  maxPerHost: 1,
  maxSurge: { percent: 25 },
  maxUnavailable: { percent: 25 },
  minReadySeconds: 0,
  progressDeadlineSeconds: 600,
  autoRollback: false,
  backoffBaseSeconds: 10,
  backoffMaxSeconds: 300,
  backoffResetAfterSeconds: 600,
  ...over,
})

export const newService = (over: Partial<NewService> = {}): NewService => {
  const { command, env } = over.content ?? content()
  return { ...plainService, template: { command, env, settings: over.settings ?? settings() }, ...over }
}

const plainService: Omit<NewService, 'template'> = {
  id: 'service-1' as ServiceId,
  projectId: 'project-1' as ProjectId,
  projectName: 'default',
  queueId: 'queue-1' as QueueId,
  name: 'web',
  owner: 'alice',
  profileRevisionId: 'profile-revision-1' as ProfileRevisionId,
  content: content(),
  overrides: { command: null, env: [] },
  settings: settings(),
  replicas: 3,
  maxReplicas: null,
}

/** Time and ids by hand: ids count up, so that their order is the order of creation. */
export interface ManualContext extends Context {
  now: Instant
  /** How many ids were given. */
  readonly given: number
}

export function manualContext(now: Instant = epochMillis): ManualContext {
  let given = 0
  return {
    now,
    newId: () => `id-${String(++given).padStart(8, '0')}`,
    get given() {
      return given
    },
  }
}

export const hostId = (number: number): HostId => `host-${number}` as HostId

/** The one worker of a host. */
export const workerOf = (host: HostId): WorkerId => host.replace('host', 'worker') as WorkerId

export const reporter = (over: Partial<Reporter> = {}): Reporter => ({
  workerId: workerOf(over.hostId ?? hostId(1)),
  hostId: hostId(1),
  epoch: 1,
  ...over,
})

export const grantOf = (replica: ReplicaId, over: Partial<Grant> = {}): Grant => ({
  replicaId: replica,
  hostId: hostId(1),
  hostName: 'node1',
  hostAddresses: ['10.0.0.1'],
  workerId: workerOf(over.hostId ?? hostId(1)),
  allocation: 1,
  ports: [{ name: 'http', port: 20_000, protocol: 'TCP' }],
  lastPort: 20_000,
  ...over,
})

export const reportOf = (replica: Pick<Replica, 'id' | 'start'>, over: Partial<ReplicaReport> = {}): ReplicaReport => ({
  replica: replica.id,
  start: replica.start,
  state: 'RUNNING',
  ready: true,
  endReason: null,
  exitCode: null,
  exitSignal: null,
  message: null,
  ...over,
})
