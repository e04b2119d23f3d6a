import { z } from 'zod'
import { graceSeconds, leaseSeconds } from '../model/bounds.ts'
import type { Retention } from '../model/retention.ts'
import { type LogFormat, type LogLevel, logFormat, logLevel, oneOf, onOff, wholeNumber } from '../settings/readers.ts'
import { explain, readEnvironment, type Setting, type Settings, type ValuesOf } from '../settings/setting.ts'
import { offerSettings } from '../worker/settings/offerSettings.ts'
import { readWorkerSettings } from '../worker/settings/settings.ts'
import { localWorkerEnvironment } from './localWorkerSettings.ts'

/** The server's settings, which are read from the environment once. */
export interface Config {
  readonly host: string
  /** 0: the system chooses a free port. */
  readonly port: number
  readonly keepAliveSeconds: number
  readonly dataDirectory: string
  /** Null: the server uses the embedded database. */
  readonly databaseUrl: string | null
  readonly localWorker: boolean
  readonly stopReplicasOnExit: boolean
  readonly logLevel: LogLevel
  /** Null: pretty on a terminal, JSON anywhere else. */
  readonly logFormat: LogFormat | null
  readonly leaseSeconds: number
  readonly graceSeconds: number
  readonly idleTransactionSeconds: number
  readonly databaseSilenceSeconds: number
  readonly retention: Retention
  /** At most so many MiB wait for slow readers. */
  readonly slowReadersMiB: number
  /** Decides who may read /metrics: holders of a token with the role metrics or admin, or anybody who reaches the port. */
  readonly metrics: 'token' | 'open'
}

const count = (min: number, max: number) => wholeNumber({ min, max }, 'a number')
const seconds = (min: number, max: number) => wholeNumber({ min, max }, 'seconds')
const hours = (min: number, max: number) => wholeNumber({ min, max }, 'hours')

/** Every setting of the server. */
const serverSettings = {
  XCE_HOST: { read: z.string(), default: '127.0.0.1', does: 'The address to listen on.' },
  XCE_PORT: {
    read: wholeNumber({ min: 0, max: 65_535 }, 'a port'),
    default: '4000',
    does: 'The port to listen on; 0: any free port.',
  },
  XCE_KEEP_ALIVE_SECONDS: {
    read: seconds(1, 3_600),
    default: '75',
    does: 'How long an HTTP connection may be idle. Give more than a proxy before the server allows (nginx: 60), or some of its requests fail with 502.',
  },
  XCE_DATA_DIR: {
    read: z.string(),
    default: '.xce',
    does: 'The directory of the embedded database, the tokens and the local worker.',
  },
  DATABASE_URL: {
    read: z
      .string()
      .regex(/^postgres(ql)?:\/\//, { error: 'give a URL that begins with postgresql://', abort: true })
      .refine(isWholeUrl, {
        error: 'percent-encode special characters in its user and password, for example # as %23 and / as %2F',
      }),
    otherwise: 'an embedded database, in XCE_DATA_DIR',
    does: 'The URL of a PostgreSQL database.',
  },
  XCE_LOCAL_WORKER: {
    read: onOff,
    otherwise: 'on with the embedded database, off with DATABASE_URL',
    does: 'on: the server runs a worker on this machine.',
  },
  XCE_STOP_REPLICAS_ON_EXIT: {
    read: onOff,
    default: 'off',
    does: 'on: the local worker’s replicas stop with the server. off: they run on, and the next start finds them.',
  },
  XCE_LOG_LEVEL: { read: logLevel, default: 'info', does: 'The lowest level that is logged.' },
  XCE_LOG_FORMAT: {
    read: logFormat,
    otherwise: 'pretty on a terminal, json anywhere else',
    does: 'json: each line of the log is a JSON object. pretty: the lines are for people.',
  },
  XCE_LEASE_SECONDS: {
    read: seconds(1, 3_600),
    default: String(leaseSeconds),
    does: 'How long a worker may be silent before it is unreachable.',
  },
  XCE_GRACE_SECONDS: {
    read: seconds(0, 86_400),
    default: String(graceSeconds),
    does: 'How long a worker may be unreachable before it is lost.',
  },
  XCE_IDLE_TRANSACTION_SECONDS: {
    read: seconds(1, 60),
    default: '5',
    does: 'After this time PostgreSQL disconnects a server that froze inside a transaction, which blocks the other servers.',
  },
  XCE_DATABASE_SILENCE_SECONDS: {
    // The minimum is longer than a statement may wait for a lock.
    read: seconds(20, 3_600),
    default: '60',
    does: 'After this time of silence a connection to PostgreSQL is closed, and whatever waits for it fails.',
  },
  XCE_FACTS_KEPT: {
    read: count(1_000, 100_000_000),
    default: '100000',
    does: 'Number of newest facts to keep. A subscriber can resume that far back.',
  },
  XCE_FACTS_KEPT_SECONDS: {
    read: seconds(0, 31_536_000),
    default: '3600',
    does: 'Facts younger than this are kept as well.',
  },
  XCE_FACTS_KEPT_MOST: {
    read: count(1_000, 100_000_000),
    default: '1000000',
    does: 'Maximum number of facts to keep.',
  },
  XCE_EVENTS_KEPT_HOURS: { read: hours(1, 87_600), default: '168', does: 'How long events are kept.' },
  XCE_EVENTS_KEPT_MOST: {
    read: count(0, 100_000_000),
    default: '200000',
    does: 'Maximum number of events to keep.',
  },
  XCE_ENDED_REPLICAS_KEPT_HOURS: {
    read: hours(1, 87_600),
    default: '168',
    does: 'How long ended replicas, and services that are gone, are kept.',
  },
  XCE_ENDED_REPLICAS_KEPT_MOST: {
    read: count(0, 100_000_000),
    default: '100000',
    does: 'Maximum number of ended replicas to keep.',
  },
  XCE_VERSIONS_KEPT: {
    read: count(2, 1_000_000),
    default: '100',
    does: 'Number of newest versions and rollouts to keep of each service.',
  },
  XCE_SLOW_READERS_MIB: {
    read: wholeNumber({ min: 8, max: 65_536 }, 'MiB'),
    default: '64',
    does: 'Memory for what waits for slow subscribers. When it is used up, they get a SNAPSHOT instead, and connections that take nothing are closed.',
  },
  XCE_METRICS: {
    read: oneOf('token', 'open'),
    default: 'token',
    does: 'token: /metrics needs a token with the role metrics or admin. open: it needs no token.',
  },
} as const satisfies Settings

/**
 * The part of a URL after "#" would be cut off, so a "#" can't be right. The driver accepts an empty host, also after a
 * user ("user@/"), because the host may be a parameter of the URL.
 */
function isWholeUrl(text: string): boolean {
  return !text.includes('#') && URL.canParse(text.replace('@/', '@host/'))
}

/** Everything that is wrong with the environment, one sentence for each mistake. */
export class ConfigError extends Error {
  readonly mistakes: readonly string[]

  constructor(mistakes: readonly string[]) {
    super(mistakes.join('\n'))
    this.mistakes = mistakes
  }
}

/** Reads the settings; an empty variable counts as not set. Throws ConfigError with all mistakes at once. */
export function readConfig(env: NodeJS.ProcessEnv): { config: Config; warnings: readonly string[] } {
  const { values, valid, faults } = readEnvironment(serverSettings, env)
  const mistakes = [...faults, ...factsMistakes(valid), ...localWorkerMistakes(env, valid)]
  if (values === null || mistakes.length > 0) throw new ConfigError(mistakes)
  const known = new Set([...Object.keys(serverSettings), ...Object.keys(offerSettings)])
  const warnings = Object.keys(env)
    .filter((name) => name.startsWith('XCE_') && !known.has(name))
    .map((name) => `${name} is not a setting of the server and is ignored: run with --help for the list.`)
  return { config: configOf(values), warnings }
}

type Values = ValuesOf<typeof serverSettings>

function configOf(values: Values): Config {
  return {
    host: values.XCE_HOST,
    port: values.XCE_PORT,
    keepAliveSeconds: values.XCE_KEEP_ALIVE_SECONDS,
    dataDirectory: values.XCE_DATA_DIR,
    databaseUrl: values.DATABASE_URL,
    localWorker: runsLocalWorker(values),
    stopReplicasOnExit: values.XCE_STOP_REPLICAS_ON_EXIT,
    logLevel: values.XCE_LOG_LEVEL,
    logFormat: values.XCE_LOG_FORMAT,
    leaseSeconds: values.XCE_LEASE_SECONDS,
    graceSeconds: values.XCE_GRACE_SECONDS,
    idleTransactionSeconds: values.XCE_IDLE_TRANSACTION_SECONDS,
    databaseSilenceSeconds: values.XCE_DATABASE_SILENCE_SECONDS,
    retention: {
      facts: {
        kept: values.XCE_FACTS_KEPT,
        keptSeconds: values.XCE_FACTS_KEPT_SECONDS,
        mostKept: values.XCE_FACTS_KEPT_MOST,
      },
      events: { keptHours: values.XCE_EVENTS_KEPT_HOURS, mostKept: values.XCE_EVENTS_KEPT_MOST },
      endedReplicas: {
        keptHours: values.XCE_ENDED_REPLICAS_KEPT_HOURS,
        mostKept: values.XCE_ENDED_REPLICAS_KEPT_MOST,
      },
      versionsKept: values.XCE_VERSIONS_KEPT,
    },
    slowReadersMiB: values.XCE_SLOW_READERS_MIB,
    metrics: values.XCE_METRICS,
  }
}

function runsLocalWorker({ XCE_LOCAL_WORKER, DATABASE_URL }: Partial<Values>): boolean {
  return XCE_LOCAL_WORKER ?? DATABASE_URL === null
}

function factsMistakes({ XCE_FACTS_KEPT: kept, XCE_FACTS_KEPT_MOST: most }: Partial<Values>): string[] {
  if (kept === undefined || most === undefined || kept <= most) return []
  return [`XCE_FACTS_KEPT is ${kept} and XCE_FACTS_KEPT_MOST ${most}: give it at least as many.`]
}

/** The local worker reads its settings itself; what it would refuse at its start is a mistake already here. */
function localWorkerMistakes(env: NodeJS.ProcessEnv, valid: Partial<Values>): readonly string[] {
  if (!runsLocalWorker(valid)) return []
  const passed = localWorkerEnvironment(env, { host: valid.XCE_HOST ?? '', dataDirectory: valid.XCE_DATA_DIR ?? '' })
  // The server has checked these itself.
  const read = readWorkerSettings({ ...passed, XCE_LOG_LEVEL: undefined, XCE_LOG_FORMAT: undefined })
  return 'faults' in read ? read.faults : []
}

/** The text of --help. */
export function helpText(): string {
  const all: [string, string][] = [
    ...Object.entries(serverSettings).map(([name, setting]): [string, string] => [name, explain(setting)]),
    ...Object.entries(offerSettings).map(([name, setting]): [string, string] => [name, explainOffer(name, setting)]),
  ]
  const width = Math.max(...all.map(([name]) => name.length))
  const lines = all.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)
  return ['XCE Services, the server. Settings are environment variables:', '', ...lines, ''].join('\n')
}

function explainOffer(name: string, setting: Setting): string {
  const does = `Local worker: ${setting.does}`
  // The server knows this better than the worker, which would look at the network interfaces.
  if (name === 'XCE_WORKER_ADDRESSES' && 'otherwise' in setting)
    return explain({ ...setting, does, otherwise: `XCE_HOST if it is a loopback address, else ${setting.otherwise}` })
  return explain({ ...setting, does })
}
