import { bounds, workerProtocolVersion } from '../model/bounds.ts'
import type { InputIssue } from '../model/refusal.ts'
import { shown } from './text.ts'

export interface WorkerToCheck {
  readonly name: string
  readonly host: string
  readonly addresses: readonly string[]
  readonly cpuMillis: number
  readonly memoryMiB: number
  readonly portRange: { readonly from: number; readonly to: number }
  readonly reservedPorts: readonly number[]
  readonly softwareVersion: string
  readonly protocolVersion: number
}

const hostName = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/
const address = /^[0-9A-Za-z.:%_-]{1,253}$/
const mostAddresses = 16
const version = /^[\x20-\x7e]{0,100}$/

/** Everything that is wrong with a registration. */
export function workerIssues(worker: WorkerToCheck): readonly InputIssue[] {
  const issues: InputIssue[] = []
  const refuse = (field: readonly string[], message: string) => issues.push({ path: ['input', ...field], message })
  const { name, host, addresses, portRange, reservedPorts, softwareVersion, protocolVersion } = worker
  if (!hostName.test(name)) refuse(['name'], `${shown(name)} is no worker's name: use letters, digits, ".", "_" and "-", at most 253.`)
  if (!hostName.test(host)) refuse(['host'], `${shown(host)} is no host's name: use letters, digits, ".", "_" and "-", at most 253.`)
  if (addresses.length > mostAddresses)
    refuse(['addresses'], `There are ${addresses.length} addresses: at most ${mostAddresses} are allowed.`)
  for (const [position, text] of addresses.entries()) {
    if (!address.test(text)) refuse(['addresses', String(position)], `${shown(text)} is no IP address and no host name.`)
  }
  for (const field of ['cpuMillis', 'memoryMiB'] as const) {
    const { min, max } = bounds[field]
    if (worker[field] < min || worker[field] > max) refuse([field], `${field} is ${worker[field]}: give ${min} to ${max}.`)
  }
  const { min, max } = bounds.port
  if (portRange.from < min || portRange.from > max) refuse(['portRange', 'from'], `from is ${portRange.from}: give ${min} to ${max}.`)
  if (portRange.to < portRange.from || portRange.to > max)
    refuse(['portRange', 'to'], `to is ${portRange.to}: give from (${portRange.from}) to ${max}.`)
  for (const [position, port] of reservedPorts.entries()) {
    if (port < min || port > max) refuse(['reservedPorts', String(position)], `The port is ${port}: give ${min} to ${max}.`)
  }
  if (!version.test(softwareVersion))
    refuse(['softwareVersion'], `${shown(softwareVersion)} is no version: use at most 100 printable ASCII characters.`)
  if (protocolVersion !== workerProtocolVersion) {
    const message = `The worker speaks version ${protocolVersion} of the protocol, this server version ${workerProtocolVersion}: install the same release.`
    refuse(['protocolVersion'], message)
  }
  return issues
}
