/** The bounds of what users may write. The message that refuses a value quotes its bound. */
export const bounds = {
  nameLength: 50,
  portNameLength: 15,
  replicas: { min: 0, max: 50_000 },
  port: { min: 1, max: 65_535 },
  ports: { max: 16 },
  commandWords: { min: 1, max: 256 },
  commandBytes: 65_536,
  variables: { max: 256 },
  variableNameLength: 128,
  variableValueBytes: 32_768,
  pathLength: 1_024,
  cpuMillis: { min: 1, max: 1_024_000 },
  memoryMiB: { min: 1, max: 16_777_216 },
  percent: { min: 0, max: 100 },
  limitCount: { min: 0, max: 50_000 },
  maxPerHost: { min: 1, max: 50_000 },
  minReadySeconds: { min: 0, max: 86_400 },
  progressDeadlineSeconds: { min: 1, max: 604_800 },
  watchSeconds: { min: 0, max: 86_400 },
  backoffSeconds: { min: 0, max: 86_400 },
  backoffResetAfterSeconds: { min: 1, max: 604_800 },
  probeInitialDelaySeconds: { min: 0, max: 3_600 },
  probePeriodSeconds: { min: 1, max: 3_600 },
  probeTimeoutSeconds: { min: 1, max: 3_600 },
  probeThreshold: { min: 1, max: 1_000 },
  probeHeaders: { max: 16 },
  probeHeaderBytes: 4_096,
  restartAttempts: { min: 0, max: 1_000 },
  restartWindowSeconds: { min: 1, max: 604_800 },
  restartDelaySeconds: { min: 0, max: 3_600 },
  drainSeconds: { min: 0, max: 3_600 },
  graceSeconds: { min: 0, max: 86_400 },
  projectReplicas: { min: 0, max: 1_000_000_000 },
  queuePriority: { min: -1_000_000, max: 1_000_000 },
  causeLength: 256,
  /** Those of Kubernetes. */
  labelKeyLength: 63,
  labelPrefixLength: 253,
  labelValueLength: 63,
  labels: { min: 0, max: 64 },
  annotationBytes: 64 * 1024,
  descriptionLength: 1_024,
  idempotencyKeyLength: 128,
  pageSize: { default: 20, max: 100 },
  nodes: 100,
  filterValues: { max: 100 },
  /** The longest of them is the key of a label. */
  filterTextLength: 320,
  tailLines: { min: 0, max: 10_000 },
  /** The text of one answer about a log. JSON may write six bytes for one, and a worker's message has 4 MiB at most. */
  logBytes: { min: 1, max: 524_288, default: 262_144 },
} as const

/** Replica rows that one commit of a service writes at most; a timer that is due at once continues with the rest. */
export const rowsPerCommit = 500
/** Causes whose repeats are counted apart, per replica and per rollout; all further ones are counted together. */
export const mostCauses = 16
/** Intents that one commit takes at most. */
export const intentsPerCommit = 256
/** For so long a replica must have been ready at least, once its content has failed in this rollout (R9). */
export const troubledMinReadySeconds = 10
/**
 * A replica that completes its work within so many seconds of its start counts as failed, because a service is something
 * that stays up: otherwise a program that ends at once would be started again and again without a wait (R10).
 */
export const shortestWorkSeconds = 60
/** A slot is in CRASH_LOOP from its third failure on (R10). */
export const crashLoopFailures = 3
/** From so many port conflicts of a replica in a row its blocker says how much of the range is taken (R13). */
export const portConflictsUntilBlocker = 20
/**
 * How long a port is in quarantine after it could not be bound: the time is doubled from the first to the last (R13).
 */
export const quarantineSeconds = { first: 60, last: 3_600 } as const
/** The ports of a host whose worker names no range (R13). */
export const defaultPortRange = { from: 20_000, to: 32_000 } as const
/** A worker may be silent for a lease before it is UNREACHABLE, and for a grace more before it is LOST (R15). */
export const leaseSeconds = 15
export const graceSeconds = 60
