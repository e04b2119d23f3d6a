import { z } from 'zod'
import { graceSeconds, leaseSeconds } from '../model/bounds.ts'
import type { Retention } from '../model/retention.ts'
import { offerHelp } from '../model/workerOffer.ts'
import { readSettings } from '../worker/settings/settings.ts'
import { localWorkerEnvironment } from './localWorkerSettings.ts'

/** The server's settings, read once from the environment. */
export interface Config {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly dataDirectory: string
  /** Null: the embedded database. */
  readonly databaseUrl: string | null
  readonly localWorker: boolean
  readonly stopReplicasOnExit: boolean
  readonly logLevel: LogLevel
  readonly leaseSeconds: number
  readonly graceSeconds: number
  readonly idleTransactionSeconds: number
  readonly databaseSilenceSeconds: number
  readonly retention: Retention
  /** Who may read /metrics: holders of a token with the role metrics or admin, or anybody who reaches the port. */
  readonly metrics: 'token' | 'open'
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
type LogLevel = (typeof logLevels)[number]

const onOff = z.enum(['on', 'off'], { error: 'say on or off' }).transform((word) => word === 'on')

const wholeNumber = (min: number, max: number, what: string) =>
  z
    .string()
    .regex(/^\d+$/, { error: `give ${what} from ${min} to ${max}` })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error: `give ${what} from ${min} to ${max}` })

/** Every setting: how it is read, what it is without a value, and what it does. */
const settings = {
  XCE_HOST: { read: z.string(), unset: '127.0.0.1', does: 'The address to listen on.' },
  XCE_PORT: { read: wholeNumber(0, 65_535, 'a port'), unset: '4000', does: 'The port to listen on; 0: any free one.' },
  XCE_DATA_DIR: {
    read: z.string(),
    unset: '.xce',
    does: 'The directory of the embedded database, tokens and the local worker.',
  },
  DATABASE_URL: {
    read: z
      .string()
      .regex(/^postgres(ql)?:\/\//, { error: 'give a URL that begins with postgresql://', abort: true })
      .refine(isWholeUrl, {
        error: 'percent-encode what is special in its user and password, for example # as %23 and / as %2F',
      }),
    unset: null,
    does: 'A PostgreSQL database. Without it the database is embedded, in XCE_DATA_DIR.',
  },
  XCE_LOCAL_WORKER: {
    read: onOff,
    unset: null,
    does: 'on: run a worker on this machine. Without it: on with the embedded database.',
  },
  XCE_STOP_REPLICAS_ON_EXIT: {
    read: onOff,
    unset: 'off',
    does: 'on: stop the local worker’s replicas with the server. off: they run on and are found again.',
  },
  XCE_LOG_LEVEL: {
    read: z.enum(logLevels, { error: `say one of ${logLevels.join(', ')}` }),
    unset: 'info',
    does: 'The least that is logged.',
  },
  XCE_LEASE_SECONDS: {
    read: wholeNumber(1, 3_600, 'seconds'),
    unset: String(leaseSeconds),
    does: 'How long a worker may be silent before it is unreachable.',
  },
  XCE_GRACE_SECONDS: {
    read: wholeNumber(0, 86_400, 'seconds'),
    unset: String(graceSeconds),
    does: 'How long a worker may be unreachable before it is lost.',
  },
  XCE_IDLE_TRANSACTION_SECONDS: {
    read: wholeNumber(1, 60, 'seconds'),
    unset: '5',
    does: 'After how long PostgreSQL cuts off a server that froze inside a transaction, for the others.',
  },
  XCE_DATABASE_SILENCE_SECONDS: {
    // Longer than a statement may wait for a lock.
    read: wholeNumber(20, 3_600, 'seconds'),
    unset: '60',
    does: 'After how long without a word a connection to PostgreSQL is cut, with what waits on it.',
  },
  XCE_FACTS_KEPT: {
    read: wholeNumber(1_000, 100_000_000, 'a number'),
    unset: '100000',
    does: 'So many of the newest facts are kept: as far back may a subscriber resume.',
  },
  XCE_FACTS_KEPT_SECONDS: {
    read: wholeNumber(0, 31_536_000, 'seconds'),
    unset: '3600',
    does: 'Facts younger than this are kept as well.',
  },
  XCE_FACTS_KEPT_MOST: {
    read: wholeNumber(1_000, 100_000_000, 'a number'),
    unset: '1000000',
    does: 'More facts than this are never kept.',
  },
  XCE_EVENTS_KEPT_HOURS: { read: wholeNumber(1, 87_600, 'hours'), unset: '168', does: 'How long events are kept.' },
  XCE_EVENTS_KEPT_MOST: {
    read: wholeNumber(0, 100_000_000, 'a number'),
    unset: '200000',
    does: 'More events than this are never kept.',
  },
  XCE_ENDED_REPLICAS_KEPT_HOURS: {
    read: wholeNumber(1, 87_600, 'hours'),
    unset: '168',
    does: 'How long ended replicas, and services that are gone, are kept.',
  },
  XCE_ENDED_REPLICAS_KEPT_MOST: {
    read: wholeNumber(0, 100_000_000, 'a number'),
    unset: '100000',
    does: 'More ended replicas than this are never kept.',
  },
  XCE_VERSIONS_KEPT: {
    read: wholeNumber(2, 1_000_000, 'a number'),
    unset: '100',
    does: 'So many of the newest versions and rollouts of each service are kept.',
  },
  XCE_METRICS: {
    read: z.enum(['token', 'open'], { error: 'say token or open' }),
    unset: 'token',
    does: 'token: /metrics needs a token with the role metrics or admin. open: it needs none.',
  },
} as const

/** A "#" is never part of one: it would cut off what comes after. The driver takes an empty host, beside a user too: it is a parameter then. */
function isWholeUrl(text: string): boolean {
  return !text.includes('#') && URL.canParse(text.replace('@/', '@host/'))
}

/** Settings of the local worker: handed to it as they are, and read there. */
const workerSettings = Object.fromEntries(
  Object.entries(offerHelp).map(([name, { does, unset }]): [string, { unset: string | null; does: string }] => {
    const what = `Of the local worker: ${does}.`
    if ('value' in unset) return [name, { unset: unset.value, does: what }]
    // The server knows better than to let it be found.
    const taken =
      name === 'XCE_WORKER_ADDRESSES'
        ? `XCE_HOST where that is a loopback address, otherwise ${unset.taken}`
        : unset.taken
    return [name, { unset: null, does: `${what} Without it: ${taken}.` }]
  }),
)

/** Everything that is wrong with the environment, one sentence each. */
export class ConfigError extends Error {
  readonly mistakes: readonly string[]

  constructor(mistakes: readonly string[]) {
    super(mistakes.join('\n'))
    this.mistakes = mistakes
  }
}

/** Reads the settings; an empty variable counts as unset. Throws ConfigError with all mistakes at once. */
export function readConfig(env: NodeJS.ProcessEnv): { config: Config; warnings: readonly string[] } {
  const mistakes: string[] = []
  const read = <Name extends keyof typeof settings>(name: Name) => {
    const text = env[name] || settings[name].unset
    if (text === null) return null
    const result = settings[name].read.safeParse(text)
    if (result.success) return result.data as z.output<(typeof settings)[Name]['read']>
    mistakes.push(
      `${name} is ${JSON.stringify(withoutPassword(text))}: ${result.error.issues[0]?.message ?? 'it is not understood'}.`,
    )
    return null
  }
  const databaseUrl = read('DATABASE_URL')
  const config = {
    host: read('XCE_HOST'),
    port: read('XCE_PORT'),
    dataDirectory: read('XCE_DATA_DIR'),
    localWorker: read('XCE_LOCAL_WORKER') ?? databaseUrl === null,
    stopReplicasOnExit: read('XCE_STOP_REPLICAS_ON_EXIT'),
    logLevel: read('XCE_LOG_LEVEL'),
    leaseSeconds: read('XCE_LEASE_SECONDS'),
    graceSeconds: read('XCE_GRACE_SECONDS'),
    idleTransactionSeconds: read('XCE_IDLE_TRANSACTION_SECONDS'),
    databaseSilenceSeconds: read('XCE_DATABASE_SILENCE_SECONDS'),
    retention: {
      facts: {
        kept: read('XCE_FACTS_KEPT'),
        keptSeconds: read('XCE_FACTS_KEPT_SECONDS'),
        mostKept: read('XCE_FACTS_KEPT_MOST'),
      },
      events: { keptHours: read('XCE_EVENTS_KEPT_HOURS'), mostKept: read('XCE_EVENTS_KEPT_MOST') },
      endedReplicas: {
        keptHours: read('XCE_ENDED_REPLICAS_KEPT_HOURS'),
        mostKept: read('XCE_ENDED_REPLICAS_KEPT_MOST'),
      },
      versionsKept: read('XCE_VERSIONS_KEPT'),
    },
    metrics: read('XCE_METRICS'),
  }
  const { kept, mostKept } = config.retention.facts
  if (kept !== null && mostKept !== null && kept > mostKept) {
    mistakes.push(`XCE_FACTS_KEPT is ${kept} and XCE_FACTS_KEPT_MOST ${mostKept}: give it at least as many.`)
  }
  if (config.localWorker) mistakes.push(...workerMistakes(env, config))
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  const known = new Set([...Object.keys(settings), ...Object.keys(workerSettings)])
  const warnings = Object.keys(env)
    .filter((name) => name.startsWith('XCE_') && !known.has(name))
    .map((name) => `${name} is no setting of the server and is ignored: run with --help for the list.`)
  return { config: { ...(config as unknown as Omit<Config, 'databaseUrl'>), databaseUrl }, warnings }
}

/** Of the local worker, which reads its settings itself: what it would refuse at its start. */
function workerMistakes(
  env: NodeJS.ProcessEnv,
  { host, dataDirectory }: { host: string | null; dataDirectory: string | null },
): readonly string[] {
  const passed = localWorkerEnvironment(env, { host: host ?? '', dataDirectory: dataDirectory ?? '' })
  // The level is the server's own, and judged there.
  const read = readSettings({ ...passed, XCE_LOG_LEVEL: undefined })
  return 'faults' in read ? read.faults : []
}

/** A URL with *** for its password; anything else as it is. */
function withoutPassword(text: string): string {
  return text.replace(/(:\/\/[^:/?#]*):.*@/, '$1:***@').replace(/([?&]password=)[^&]*/, '$1***')
}

/** The text of --help. */
export function helpText(): string {
  const all = Object.entries({ ...settings, ...workerSettings })
  const width = Math.max(...all.map(([name]) => name.length))
  const lines = all.map(
    ([name, { unset, does }]) => `  ${name.padEnd(width)}  ${does}${unset === null ? '' : ` [${unset}]`}`,
  )
  return ['XCE Services, the server. Settings are environment variables:', '', ...lines, ''].join('\n')
}
