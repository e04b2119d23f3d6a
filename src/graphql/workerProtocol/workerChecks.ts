import { bounds } from '../../model/bounds.ts'
import { hostNameFault } from '../../model/name.ts'
import { quoted } from '../../model/quoted.ts'
import type { InputIssue } from '../../model/refusal.ts'
import type { RegisteringWorker } from '../../model/workerOffer.ts'
import { protocolFault, serverProtocols } from '../../model/workerProtocol.ts'

const address = /^[0-9A-Za-z.:%_-]{1,253}$/
const mostAddresses = 16
const printable = /^[\x20-\x7e]{0,100}$/
const directoryId = /^[\x20-\x7e]{1,100}$/

/** Everything that is wrong with a registration. */
export function workerIssues(worker: RegisteringWorker): readonly InputIssue[] {
  const issues: InputIssue[] = []
  const refuse = (field: readonly string[], message: string) => issues.push({ path: ['input', ...field], message })
  const { addresses, portRange, reservedPorts, softwareVersion, protocolVersion, instance, registrationNumber } = worker
  for (const field of ['name', 'host'] as const) {
    const fault = hostNameFault(worker[field])
    if (fault !== null) refuse([field], fault)
  }
  if (addresses.length > mostAddresses)
    refuse(['addresses'], `There are ${addresses.length} addresses: at most ${mostAddresses} are allowed.`)
  for (const [position, text] of addresses.entries()) {
    if (!address.test(text))
      refuse(['addresses', String(position)], `${quoted(text)} is no IP address and no host name.`)
  }
  for (const field of ['cpuMillis', 'memoryMiB'] as const) {
    const { min, max } = bounds[field]
    if (worker[field] < min || worker[field] > max)
      refuse([field], `${field} is ${worker[field]}: give ${min} to ${max}.`)
  }
  const { min, max } = bounds.port
  if (portRange.from < min || portRange.from > max)
    refuse(['portRange', 'from'], `from is ${portRange.from}: give ${min} to ${max}.`)
  if (portRange.to < portRange.from || portRange.to > max)
    refuse(['portRange', 'to'], `to is ${portRange.to}: give from (${portRange.from}) to ${max}.`)
  for (const [position, port] of reservedPorts.entries()) {
    if (port < min || port > max)
      refuse(['reservedPorts', String(position)], `The port is ${port}: give ${min} to ${max}.`)
  }
  if (!printable.test(softwareVersion))
    refuse(['softwareVersion'], `${quoted(softwareVersion)} is no version: use at most 100 printable ASCII characters.`)
  if (!directoryId.test(instance))
    refuse(['instance'], `${quoted(instance)} is no id of a state directory: use 1 to 100 printable ASCII characters.`)
  if (registrationNumber < 1)
    refuse(
      ['registrationNumber'],
      `registrationNumber is ${registrationNumber}: the first one is 1, and each later one is higher.`,
    )
  const fault = protocolFault(protocolVersion, serverProtocols)
  if (fault !== null) refuse(['protocolVersion'], fault)
  return issues
}

/** What is wrong with reports, which come as the input's `field`: a start that is none. */
export function reportIssues(field: string, reports: readonly { readonly start: number }[]): readonly InputIssue[] {
  return reports.flatMap(({ start }, position) =>
    start >= 1
      ? []
      : [{ path: ['input', field, String(position), 'start'], message: `start is ${start}: the first one is 1.` }],
  )
}

/** What is wrong with the number of a message. */
export function sequenceIssues(sequence: number): readonly InputIssue[] {
  const message = `sequence is ${sequence}: the first message of a registration is 1, and each later one has a higher number.`
  return sequence >= 1 ? [] : [{ path: ['input', 'sequence'], message }]
}
