import { z } from 'zod'
import { bounds, defaultPortRange, graceSeconds, leaseSeconds } from '../../model/bounds.ts'
import { nameFault } from '../../model/name.ts'
import { duration, durationRange, rangeOrNever } from './duration.ts'

// The shape of a scenario file. What depends on other parts of the file, such as names that must exist, is checked when
// the file is read.

const whole = ({ min, max }: { readonly min: number; readonly max: number }) => z.int().min(min).max(max)

const name = z.string().superRefine((value, context) => {
  const fault = nameFault(value, bounds.nameLength)
  if (fault !== null) context.addIssue({ code: 'custom', message: fault })
})

/** A limit is written as 3 or as 25%. */
const limit = z.union([z.number(), z.string()]).transform((value, context) => {
  const percent = typeof value === 'string' ? /^(\d+)%$/.exec(value)?.[1] : undefined
  if (percent !== undefined && Number(percent) <= bounds.percent.max) return { percent: Number(percent) }
  if (
    typeof value === 'number' &&
    Number.isInteger(value) &&
    value >= bounds.limitCount.min &&
    value <= bounds.limitCount.max
  ) {
    return { count: value }
  }
  const message = `${JSON.stringify(value)} is not a limit: give 0% to ${bounds.percent.max}%, or ${bounds.limitCount.min} to ${bounds.limitCount.max} replicas.`
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})

const rollout = z
  .strictObject({
    maxSurge: limit,
    maxUnavailable: limit,
    minReadySeconds: whole(bounds.minReadySeconds),
    progressDeadlineSeconds: whole(bounds.progressDeadlineSeconds),
    autoRollback: z.boolean(),
    watchSeconds: whole(bounds.watchSeconds),
  })
  .partial()

const share = z.number().min(0).max(1)

const behaviour = {
  startAfter: durationRange.optional(),
  readyAfter: rangeOrNever.optional(),
  crashAfter: durationRange.optional(),
  crashChance: share.optional(),
  exitCode: whole({ min: 0, max: 255 }).optional(),
  startFailsChance: share.optional(),
  portTakenChance: share.optional(),
  stopAfter: durationRange.optional(),
}

const content = {
  cpuMillis: whole(bounds.cpuMillis).optional(),
  memoryMiB: whole(bounds.memoryMiB).optional(),
  ports: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(bounds.portNameLength),
        port: whole(bounds.port).nullish(),
        protocol: z.enum(['TCP', 'UDP']).optional(),
      }),
    )
    .max(bounds.ports.max)
    .optional(),
  readiness: z.enum(['probe', 'none']).optional(),
  restart: z
    .strictObject({
      mode: z.enum(['ALWAYS', 'ON_FAILURE', 'NEVER']),
      maxAttempts: whole(bounds.restartAttempts),
      windowSeconds: whole(bounds.restartWindowSeconds),
      delaySeconds: whole(bounds.restartDelaySeconds),
    })
    .partial()
    .optional(),
  stop: z
    .strictObject({ drainSeconds: whole(bounds.drainSeconds), graceSeconds: whole(bounds.graceSeconds) })
    .partial()
    .optional(),
}

const release = z.strictObject({ ...content, ...behaviour })

const service = z.strictObject({
  name,
  at: duration.optional(),
  project: name.optional(),
  queue: name.optional(),
  /** Makes this many equal services, named name-1, name-2 …. */
  count: whole({ min: 1, max: 10_000 }).optional(),
  replicas: whole(bounds.replicas),
  spread: z
    .strictObject({ mode: z.enum(['NONE', 'BEST_EFFORT', 'STRICT']), maxPerHost: whole(bounds.maxPerHost).optional() })
    .optional(),
  rollout: rollout.optional(),
  backoff: z
    .strictObject({
      baseSeconds: whole(bounds.backoffSeconds),
      maxSeconds: whole(bounds.backoffSeconds),
      resetAfterSeconds: whole(bounds.backoffResetAfterSeconds),
    })
    .partial()
    .optional(),
  ...content,
  ...behaviour,
  release: z.string().min(1).max(bounds.nameLength).optional(),
  releases: z.record(z.string().min(1).max(bounds.nameLength), release).optional(),
})

const expectation = z.strictObject({
  service: z.string(),
  status: z
    .enum(['HEALTHY', 'PROGRESSING', 'DEGRADED', 'STALLED', 'CRASH_LOOP', 'PAUSED', 'STOPPED', 'DELETING'])
    .optional(),
  version: z.int().min(1).optional(),
  release: z.string().optional(),
  rollout: z.enum(['ROLLING', 'PAUSED', 'STALLED', 'COMPLETED', 'SUPERSEDED', 'ROLLED_BACK', 'CANCELLED']).optional(),
  blocker: z.string().optional(),
  active: z.int().min(0).optional(),
  available: z.int().min(0).optional(),
  lowestAvailable: z.int().min(0).optional(),
  highestActive: z.int().min(0).optional(),
})

const ofService = z.strictObject({ service: z.string() })

const actions = {
  scale: z.strictObject({ service: z.string(), replicas: whole(bounds.replicas) }),
  update: z.strictObject({
    service: z.string(),
    release: z.string().optional(),
    replicas: whole(bounds.replicas).optional(),
    rollout: rollout.optional(),
    startPaused: z.boolean().optional(),
  }),
  rollback: z.strictObject({ service: z.string(), toVersion: z.int().min(1).optional() }),
  pause: ofService,
  resume: ofService,
  restart: ofService,
  delete: ofService,
  resetBackoff: ofService,
  kill: z.strictObject({ service: z.string(), index: z.int().min(0) }),
  fail: z.strictObject({
    service: z.string(),
    how: z.enum(['crash', 'unready', 'ready']).optional(),
    indexes: z.array(z.int().min(0)).optional(),
    count: z.int().min(1).optional(),
  }),
  host: z
    .strictObject({
      name: z.string(),
      /** How many of the hosts, chosen by chance; left out, all of them. */
      count: z.int().min(1).optional(),
      scheduling: z.enum(['OPEN', 'CORDONED', 'DRAINING']).optional(),
      is: z.enum(['DOWN', 'SILENT', 'UP', 'LOST']).optional(),
    })
    .superRefine(({ scheduling, is }, context) => {
      if ((scheduling === undefined) !== (is === undefined)) return
      context.addIssue({ code: 'custom', message: 'Give one of scheduling and is.' })
    }),
  quota: z.strictObject({ project: z.string(), maxReplicas: whole(bounds.projectReplicas).nullable() }),
  expect: expectation,
}

const event = z
  .strictObject({ at: duration, ...z.strictObject(actions).partial().shape })
  .superRefine(({ at: _, ...action }, context) => {
    const given = Object.keys(action)
    if (given.length === 1) return
    const known = Object.keys(actions).join(', ')
    const message =
      given.length === 0
        ? `Nothing happens here: give one of ${known}.`
        : `Give one action, not ${given.join(' and ')}.`
    context.addIssue({ code: 'custom', message })
  })

const host = z.strictObject({
  name,
  /** Makes this many equal hosts, named name-1, name-2 …. */
  count: whole({ min: 1, max: 100_000 }).optional(),
  cpuMillis: whole(bounds.cpuMillis).default(64_000),
  memoryMiB: whole(bounds.memoryMiB).default(262_144),
  portRange: z.strictObject({ from: whole(bounds.port), to: whole(bounds.port) }).default(defaultPortRange),
  reservedPorts: z.array(whole(bounds.port)).default([]),
})

export const scenarioSchema = z.strictObject({
  about: z.string().optional(),
  seed: z.int().min(0).max(4_294_967_295).default(1),
  end: duration,
  lease: duration.default(leaseSeconds),
  grace: duration.default(graceSeconds),
  hosts: z.array(host).min(1),
  projects: z.array(z.strictObject({ name, maxReplicas: whole(bounds.projectReplicas).nullish() })).default([]),
  queues: z.array(z.strictObject({ name, priority: whole(bounds.queuePriority) })).default([]),
  services: z.array(service).min(1),
  events: z.array(event).default([]),
  expect: z.array(expectation).default([]),
})

export type ScenarioFile = z.output<typeof scenarioSchema>
export type ServiceFile = ScenarioFile['services'][number]
export type ReleaseFile = z.output<typeof release>
export type EventFile = ScenarioFile['events'][number]
export type ExpectationFile = z.output<typeof expectation>
