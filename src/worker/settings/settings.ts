import { isIP } from 'node:net'
import { hostname } from 'node:os'
import path from 'node:path'
import { bounds, defaultPortRange } from '../../model/bounds.ts'
import { hostNameFault } from '../../model/name.ts'
import { offerHelp, type WorkerOffer } from '../../model/workerOffer.ts'
import { findAddresses, findCapacity } from '../machine/machine.ts'

/** Where the servers are: fixed, or in a file that is read at every connect. */
export type Servers =
  | { readonly kind: 'list'; readonly urls: readonly string[] }
  | { readonly kind: 'file'; readonly file: string }

export interface WorkerSettings extends WorkerOffer {
  readonly servers: Servers
  readonly tokenFile: string
  readonly stateDirectory: string
  readonly logLevel: string
  /** Null: standard output. */
  readonly logFile: string | null
}

const offerSettings = Object.entries(offerHelp).map(
  ([variable, { does, unset }]) => [variable, `${does} (${'value' in unset ? unset.value : unset.taken})`] as const,
)

/** Every setting, as `--help` prints it. */
export const settingsHelp: readonly (readonly [string, string])[] = [
  [
    'XCE_WORKER_SERVERS',
    'URLs of the servers, separated by commas, for example http://10.0.0.1:4000/graphql; any of them will do',
  ],
  ['XCE_WORKER_SERVER_FILE', 'instead of XCE_WORKER_SERVERS: a file with one URL, read at every connect'],
  ['XCE_WORKER_TOKEN_FILE', 'a file with a worker token, such as the servers write to worker-token (required)'],
  [
    'XCE_WORKER_STATE_DIR',
    'where replicas are recorded and logged and have their own directories, on a local disk; one worker each (.xce-worker)',
  ],
  ...offerSettings,
  ['XCE_WORKER_LOG_FILE', 'where it logs to, kept at two files of 10 MiB (standard output)'],
  ['XCE_LOG_LEVEL', 'trace, debug, info, warn, error, fatal or silent (info)'],
]

type Environment = Readonly<Record<string, string | undefined>>

function textOf(environment: Environment, name: string): string | null {
  const value = environment[name]?.trim()
  return value === undefined || value === '' ? null : value
}

export function stateDirectoryOf(environment: Environment): string {
  return path.resolve(textOf(environment, 'XCE_WORKER_STATE_DIR') ?? '.xce-worker')
}

/** The settings, or one sentence per mistake. */
export function readSettings(environment: Environment): { settings: WorkerSettings } | { faults: string[] } {
  const faults: string[] = []
  const text = (name: string): string | null => textOf(environment, name)
  const number = (name: string, limits: { min: number; max: number }, fallback: number): number => {
    const value = text(name)
    if (value === null) return fallback
    if (/^\d+$/.test(value) && Number(value) >= limits.min && Number(value) <= limits.max) return Number(value)
    faults.push(`${name} is ${JSON.stringify(value)}: give a whole number from ${limits.min} to ${limits.max}.`)
    return fallback
  }
  const name = (variable: string, fallback: string): string => {
    const used = text(variable) ?? fallback
    const fault = hostNameFault(used)
    if (fault !== null) faults.push(`${variable}: ${fault}`)
    return used
  }
  const capacity = findCapacity()
  const tokenFile = text('XCE_WORKER_TOKEN_FILE')
  if (tokenFile === null) faults.push('XCE_WORKER_TOKEN_FILE is not set: give the file that holds the worker token.')
  const host = name('XCE_WORKER_HOST', labelOf(hostname()))
  const logFile = text('XCE_WORKER_LOG_FILE')
  const settings: WorkerSettings = {
    servers: readServers(text('XCE_WORKER_SERVERS'), text('XCE_WORKER_SERVER_FILE'), faults),
    tokenFile: tokenFile ?? '',
    stateDirectory: stateDirectoryOf(environment),
    // Most hosts have one worker: one name says both.
    name: name('XCE_WORKER_NAME', host),
    host,
    addresses: readAddresses(text('XCE_WORKER_ADDRESSES'), faults),
    cpuMillis: number('XCE_WORKER_CPU_MILLIS', bounds.cpuMillis, capacity.cpuMillis),
    memoryMiB: number('XCE_WORKER_MEMORY_MIB', bounds.memoryMiB, capacity.memoryMiB),
    portRange: readRange('XCE_WORKER_PORT_RANGE', text('XCE_WORKER_PORT_RANGE'), faults) ?? defaultPortRange,
    reservedPorts: readPorts(text('XCE_WORKER_RESERVED_PORTS'), faults),
    logLevel: readLevel(text('XCE_LOG_LEVEL'), faults),
    logFile: logFile === null ? null : path.resolve(logFile),
  }
  return faults.length > 0 ? { faults } : { settings }
}

/** A host name as a DNS label: its first part, in lower case. */
function labelOf(host: string): string {
  return (host.split('.')[0] ?? '')
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, '-')
    .replace(/^-+|-+$/g, '')
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

function readLevel(text: string | null, faults: string[]): string {
  if (text !== null && !levels.includes(text))
    faults.push(`XCE_LOG_LEVEL is ${JSON.stringify(text)}: say one of ${levels.join(', ')}.`)
  return text ?? 'info'
}

function readServers(list: string | null, file: string | null, faults: string[]): Servers {
  if (list !== null && file !== null)
    faults.push('XCE_WORKER_SERVERS and XCE_WORKER_SERVER_FILE are both set: give one of them.')
  if (file !== null) return { kind: 'file', file: path.resolve(file) }
  const urls = items(list)
  if (urls.length === 0)
    faults.push(
      'XCE_WORKER_SERVERS is not set: give the URLs of the servers, for example http://127.0.0.1:4000/graphql.',
    )
  for (const url of urls)
    if (!isServerUrl(url)) faults.push(`XCE_WORKER_SERVERS has ${JSON.stringify(url)}, which is no http or https URL.`)
  return { kind: 'list', urls: urls.filter(isServerUrl).map(apiOf) }
}

/** Of a server that is named without a path. */
export function apiOf(server: string): string {
  const url = new URL(server)
  if (url.pathname === '/') url.pathname = '/graphql'
  return url.href
}

export function isServerUrl(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:', 'ws:', 'wss:'].includes(new URL(text).protocol)
}

function readAddresses(text: string | null, faults: string[]): readonly string[] {
  if (text === null) return findAddresses()
  const addresses = items(text)
  for (const address of addresses) {
    if (isIP(address) === 0) faults.push(`XCE_WORKER_ADDRESSES has ${JSON.stringify(address)}, which is no IP address.`)
  }
  return addresses
}

function readRange(name: string, text: string | null, faults: string[]): { from: number; to: number } | null {
  if (text === null) return null
  const [, from, to] = /^(\d{1,5})-(\d{1,5})$/.exec(text) ?? []
  const range = { from: Number(from), to: Number(to) }
  if (range.from >= bounds.port.min && range.from <= range.to && range.to <= bounds.port.max) return range
  faults.push(
    `${name} has ${JSON.stringify(text)}: give two ports from 1 to 65535, the smaller first, for example 20000-32000.`,
  )
  return null
}

function readPorts(text: string | null, faults: string[]): number[] {
  return items(text).flatMap((item) => {
    const range = readRange('XCE_WORKER_RESERVED_PORTS', item.includes('-') ? item : `${item}-${item}`, faults)
    return range === null ? [] : Array.from({ length: range.to - range.from + 1 }, (_, index) => range.from + index)
  })
}

function items(text: string | null): string[] {
  return (text ?? '').split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim()]))
}
