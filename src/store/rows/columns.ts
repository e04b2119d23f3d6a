import type { Instant } from '../../model/id.ts'

/** SQL types by column name, in the form that json_to_recordset takes. */
export type Columns = Readonly<Record<string, string>>

export const replicaColumns = {
  id: 'text',
  index: 'int',
  versionNumber: 'int',
  contentNumber: 'int',
  state: '"ReplicaState"',
  ready: 'boolean',
  readySince: 'timestamptz',
  available: 'boolean',
  availableSince: 'timestamptz',
  reportedReady: 'boolean',
  hostReachable: 'boolean',
  start: 'int',
  leaving: '"LeaveReason"',
  twinOf: 'text',
  hostId: 'text',
  workerId: 'text',
  hostAddresses: 'text[]',
  ports: 'jsonb',
  cpuMillis: 'int',
  memoryMiB: 'int',
  holdsQuota: 'boolean',
  pending: 'jsonb',
  notBefore: 'timestamptz',
  portConflicts: 'int',
  avoidHostId: 'text',
  stopReason: '"EndReason"',
  stoppingAt: 'timestamptz',
  endReason: '"EndReason"',
  exitCode: 'int',
  exitSignal: 'text',
  endMessage: 'text',
  reportedEpoch: 'int',
  reportedSequence: 'int',
  createdAt: 'timestamptz',
  startedAt: 'timestamptz',
  endedAt: 'timestamptz',
} as const

export const rolloutColumns = {
  id: 'text',
  number: 'int',
  fromVersion: 'int',
  toVersion: 'int',
  state: '"RolloutState"',
  automatic: 'boolean',
  hold: 'jsonb',
  updatedReplicas: 'int',
  availableReplicas: 'int',
  oldReplicas: 'int',
  desiredReplicas: 'int',
  maxSurge: 'int',
  maxUnavailable: 'int',
  minReadySeconds: 'int',
  progressDeadlineSeconds: 'int',
  bestAvailable: 'int',
  leastOutdated: 'int',
  startedAt: 'timestamptz',
  progressedAt: 'timestamptz',
  deadlineAt: 'timestamptz',
  finishedAt: 'timestamptz',
  startedBy: 'text',
} as const

export const versionColumns = {
  id: 'text',
  number: 'int',
  profileRevisionId: 'text',
  content: 'jsonb',
  overrides: 'jsonb',
  template: 'jsonb',
  contentDigest: 'text',
  contentNumber: 'int',
  cause: '"VersionCause"',
  createdAt: 'timestamptz',
  createdBy: 'text',
} as const

export const slotColumns = {
  index: 'int',
  contentNumber: 'int',
  failures: 'int',
  failedAt: 'timestamptz',
  retryAt: 'timestamptz',
  failedHostId: 'text',
} as const

/** The columns of Service that rules decide. */
export const serviceColumns = {
  desiredReplicas: 'int',
  versionNumber: 'int',
  profileRevisionId: 'text',
  settings: 'jsonb',
  paused: 'boolean',
  rolloutNumber: 'int',
  completedVersion: 'int',
  previousVersion: 'int',
  restartNumber: 'int',
  activeReplicas: 'int',
  runningReplicas: 'int',
  readyReplicas: 'int',
  availableReplicas: 'int',
  updatedReplicas: 'int',
  stoppingReplicas: 'int',
  status: '"ServiceStatus"',
  blockers: 'jsonb',
  deletionRequestedAt: 'timestamptz',
  deletedAt: 'timestamptz',
} as const

type Row = Readonly<Record<string, unknown>>

/** A row of the model as the statement takes it: instants as ISO text. */
export function encodeRow(columns: Columns, row: object): Record<string, unknown> {
  const encoded: Record<string, unknown> = {}
  for (const name in columns) {
    const value = (row as Row)[name]
    encoded[name] = columns[name] === 'timestamptz' && value !== null ? encodeInstant(value as Instant) : value
  }
  return encoded
}

/** The other way round, from PostgreSQL's JSON. */
export function decodeRow<T>(columns: Columns, row: Row): T {
  const decoded: Record<string, unknown> = {}
  for (const name in columns) {
    const value = row[name]
    decoded[name] = columns[name] === 'timestamptz' && value !== null ? Date.parse(value as string) : value
  }
  return decoded as T
}

export function encodeInstant(instant: Instant): string {
  return new Date(instant).toISOString()
}
