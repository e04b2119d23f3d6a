import { isIP } from 'node:net'
import { z } from 'zod'
import { bounds, defaultPortRange } from '../../model/bounds.ts'
import { hostNameFault, hostNameRule } from '../../model/name.ts'
import { listOf, wholeNumber } from '../../settings/readers.ts'
import type { Settings } from '../../settings/setting.ts'

const hostName = z.string().refine((text) => hostNameFault(text) === null, { error: hostNameRule })
const ipAddress = z.string().refine((text) => isIP(text) !== 0, { error: 'give an IP address, for example 10.0.0.1' })

function portRange(error: string) {
  const { min, max } = bounds.port
  return z
    .string()
    .regex(/^\d{1,5}-\d{1,5}$/, { error, abort: true })
    .transform((text) => {
      const [from = 0, to = 0] = text.split('-').map(Number)
      return { from, to }
    })
    .refine(({ from, to }) => min <= from && from <= to && to <= max, { error })
}

const { min, max } = bounds.port
const bothPorts = portRange(`give two ports from ${min} to ${max}, the smaller first, for example 20000-32000`)
const portOrRange = z
  .string()
  .transform((text) => (text.includes('-') ? text : `${text}-${text}`))
  .pipe(portRange(`give a port from ${min} to ${max}, or a range of ports, for example 25000-25010`))

/** The settings that say what a worker offers. A server hands them on to its local worker. */
export const offerSettings = {
  XCE_WORKER_NAME: {
    read: hostName,
    otherwise: 'the name of its host',
    does: 'The name of the worker, which is the same at every start.',
  },
  XCE_WORKER_HOST: {
    read: hostName,
    otherwise: 'the name of this machine',
    does: 'The name of the host on which the worker runs replicas; the workers of one host share its ports.',
  },
  XCE_WORKER_ADDRESSES: {
    read: listOf(ipAddress),
    otherwise: 'the addresses of this machine’s network interfaces',
    does: 'The IP addresses of the host, separated by commas, the primary one first.',
  },
  XCE_WORKER_CPU_MILLIS: {
    read: wholeNumber(bounds.cpuMillis),
    otherwise: 'all cores',
    does: 'The CPU to give to replicas; 1000 is one core.',
  },
  XCE_WORKER_MEMORY_MIB: {
    read: wholeNumber(bounds.memoryMiB),
    otherwise: 'all memory',
    does: 'The memory to give to replicas, in MiB.',
  },
  XCE_WORKER_PORT_RANGE: {
    read: bothPorts,
    default: `${defaultPortRange.from}-${defaultPortRange.to}`,
    does: 'The ports to give to replicas.',
  },
  XCE_WORKER_RESERVED_PORTS: {
    read: listOf(portOrRange),
    otherwise: 'none',
    does: 'Ports of the range that no replica gets, separated by commas; a range such as 25000-25010 is possible too.',
  },
} as const satisfies Settings
