import { hostname } from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import { hostNameFault, hostNameRule } from '../../model/name.ts'
import type { WorkerOffer } from '../../model/workerOffer.ts'
import { type LogFormat, type LogLevel, listOf, logFormat, logLevel } from '../../settings/readers.ts'
import { type Environment, readEnvironment, type Settings, textOf } from '../../settings/setting.ts'
import { findAddresses, findCapacity } from '../machine/machine.ts'
import { offerSettings } from './offerSettings.ts'

/** The servers are named by a fixed list of URLs, or by a file that is read at every connect. */
export type Servers =
  | { readonly kind: 'list'; readonly urls: readonly string[] }
  | { readonly kind: 'file'; readonly file: string }

export interface WorkerSettings extends WorkerOffer {
  readonly servers: Servers
  readonly tokenFile: string
  readonly stateDirectory: string
  readonly logLevel: LogLevel
  /** Null: pretty on a terminal, JSON anywhere else. */
  readonly logFormat: LogFormat | null
  /** Null: the worker logs to standard output. */
  readonly logFile: string | null
}

const defaultStateDirectory = '.xce-worker'
const exampleUrl = 'http://10.0.0.1:4000'
const serverUrl = z.string().refine(isServerUrl, { error: `give an http or https URL, for example ${exampleUrl}` })
const file = z.string().transform((text) => path.resolve(text))

/** Every setting of the worker. */
export const workerSettings = {
  XCE_WORKER_SERVERS: {
    read: listOf(serverUrl),
    otherwise: 'XCE_WORKER_SERVER_FILE has to be set',
    does: `The URLs of the servers, separated by commas, for example ${exampleUrl}; the worker connects to any of them.`,
  },
  XCE_WORKER_SERVER_FILE: {
    read: file,
    otherwise: 'XCE_WORKER_SERVERS has to be set',
    does: 'A file with the URL of one server, which the worker reads at every connect.',
  },
  XCE_WORKER_TOKEN_FILE: {
    read: z.string(),
    required: 'give the file that holds the worker token',
    does: 'A file with a worker token, such as the file worker-token of a server.',
  },
  XCE_WORKER_STATE_DIR: {
    read: file,
    default: defaultStateDirectory,
    does: 'The directory for the records, the logs and the own directories of replicas, on a local disk; every worker needs its own.',
  },
  ...offerSettings,
  XCE_WORKER_LOG_FILE: {
    read: file,
    otherwise: 'standard output',
    does: 'The file to which the worker logs; it is kept at two files of 10 MiB.',
  },
  XCE_LOG_LEVEL: {
    read: logLevel,
    default: 'info',
    does: 'The lowest level that is logged: trace, debug, info, warn, error, fatal or silent.',
  },
  XCE_LOG_FORMAT: {
    read: logFormat,
    otherwise: 'pretty on a terminal, json anywhere else',
    does: 'json: each line of the log is a JSON object. pretty: the lines are for people.',
  },
} as const satisfies Settings

/** Known even where another setting has a fault: `--drain` needs nothing else. */
export function stateDirectoryOf(environment: Environment): string {
  return path.resolve(textOf(environment, 'XCE_WORKER_STATE_DIR') ?? defaultStateDirectory)
}

/** The settings, or one sentence for each fault. */
export function readWorkerSettings(
  environment: Environment,
): { readonly settings: WorkerSettings } | { readonly faults: readonly string[] } {
  const read = readEnvironment(workerSettings, environment)
  const { XCE_WORKER_SERVERS: urls, XCE_WORKER_SERVER_FILE: serverFile, XCE_WORKER_HOST: givenHost } = read.valid
  const host = givenHost ?? labelOf(hostname())
  const faults = [
    ...read.faults,
    ...serversFaults(urls, serverFile),
    ...(givenHost === null ? machineFaults(host) : []),
  ]
  const { values } = read
  if (values === null || faults.length > 0) return { faults }
  const capacity = findCapacity()
  return {
    settings: {
      servers: serverFile ? { kind: 'file', file: serverFile } : { kind: 'list', urls: urls ?? [] },
      tokenFile: values.XCE_WORKER_TOKEN_FILE,
      stateDirectory: values.XCE_WORKER_STATE_DIR,
      // Most hosts have one worker, so one name serves both.
      name: values.XCE_WORKER_NAME ?? host,
      host,
      addresses: values.XCE_WORKER_ADDRESSES ?? findAddresses(),
      cpuMillis: values.XCE_WORKER_CPU_MILLIS ?? capacity.cpuMillis,
      memoryMiB: values.XCE_WORKER_MEMORY_MIB ?? capacity.memoryMiB,
      portRange: values.XCE_WORKER_PORT_RANGE,
      reservedPorts: (values.XCE_WORKER_RESERVED_PORTS ?? []).flatMap(({ from, to }) =>
        Array.from({ length: to - from + 1 }, (_, index) => from + index),
      ),
      logLevel: values.XCE_LOG_LEVEL,
      logFormat: values.XCE_LOG_FORMAT,
      logFile: values.XCE_WORKER_LOG_FILE,
    },
  }
}

/** Undefined stands for a setting that has a fault of its own. */
function serversFaults(urls: readonly string[] | null | undefined, file: string | null | undefined): string[] {
  if (urls !== null && file) return ['XCE_WORKER_SERVERS and XCE_WORKER_SERVER_FILE are both set: give one of them.']
  const isMissing = urls === null || urls?.length === 0
  return isMissing && !file
    ? [`XCE_WORKER_SERVERS is not set: give the URLs of the servers, for example ${exampleUrl}.`]
    : []
}

function machineFaults(host: string): string[] {
  if (hostNameFault(host) === null) return []
  return [
    `XCE_WORKER_HOST is not set, and this machine's name ${JSON.stringify(hostname())} can't be used: ${hostNameRule}.`,
  ]
}

/** The machine's name as a DNS label: its first part, in lower case. */
function labelOf(machine: string): string {
  return (machine.split('.')[0] ?? '')
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, '-')
    .replace(/^-+|-+$/g, '')
}

export function isServerUrl(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:', 'ws:', 'wss:'].includes(new URL(text).protocol)
}
