import { z } from 'zod'
import { bounds } from '../../model/bounds.ts'
import type { Probe } from '../../model/content.ts'
import { quoted } from '../../model/quoted.ts'
import { probeWith } from '../../rules/service/defaults.ts'
import { command, type Fault, faultless, pathFaults, whole } from '../kit/values.ts'
import type { PortInputValue } from './portChecks.ts'

const requestPath = faultless(z.string(), (text) => {
  // A request line ends at a blank or a line break.
  if (/[\s]/.test(text)) return [{ message: `The path ${quoted(text)} contains a blank: write it as %20.` }]
  const [odd] = /[^!-~\0]/u.exec(text) ?? []
  if (odd !== undefined)
    return [
      {
        message: `The path ${quoted(text)} contains ${quoted(odd)}, which no request line can carry: percent-encode it.`,
      },
    ]
  return pathFaults('The path', text)
})

export const probe = faultless(
  z.object({
    http: z.object({ port: z.string(), path: requestPath.nullish() }).nullish(),
    tcp: z.object({ port: z.string() }).nullish(),
    exec: z.object({ command }).nullish(),
    initialDelaySeconds: whole('the seconds before the first probe', bounds.probeInitialDelaySeconds).nullish(),
    periodSeconds: whole('the seconds between two probes', bounds.probePeriodSeconds).nullish(),
    timeoutSeconds: whole('the seconds until a probe has failed', bounds.probeTimeoutSeconds).nullish(),
    failureThreshold: whole('failures in a row', bounds.probeThreshold).nullish(),
    successThreshold: whole('successes in a row', bounds.probeThreshold).nullish(),
  }),
  ({ http, tcp, exec }) => {
    const given = Object.entries({ http, tcp, exec }).filter(([, action]) => action !== null && action !== undefined)
    if (given.length === 1) return []
    return [
      {
        message: `The probe has ${given.length === 0 ? 'none' : given.map(([kind]) => kind).join(' and ')} of http, tcp and exec: give exactly one.`,
      },
    ]
  },
)
type ProbeInputValue = z.output<typeof probe>

/** A probe of a port has to name a declared one, and one that speaks TCP. */
export function probePortFaults(probe: ProbeInputValue | null | undefined, ports: readonly PortInputValue[]): Fault[] {
  return (['http', 'tcp'] as const).flatMap((kind) => {
    const wanted = probe?.[kind]?.port
    if (wanted === undefined) return []
    const declared = ports.find((port) => port.name === wanted)
    if (declared?.protocol === 'UDP')
      return [
        { path: [kind, 'port'], message: `The port ${quoted(wanted)} is a UDP port: only a TCP port can be probed.` },
      ]
    if (declared !== undefined) return []
    const names = ports.map((port) => quoted(port.name)).join(', ') || 'none'
    return [{ path: [kind, 'port'], message: `The port ${quoted(wanted)} is not declared: declared are ${names}.` }]
  })
}

export function probeOf(input: ProbeInputValue | null | undefined): Probe | null {
  if (input === null || input === undefined) return null
  const { http, tcp, exec, ...times } = input
  return probeWith(actionOf(input), times)
}

function actionOf({ http, tcp, exec }: ProbeInputValue): Probe['action'] {
  if (http) return { kind: 'http', port: http.port, path: http.path ?? '/' }
  if (tcp) return { kind: 'tcp', port: tcp.port }
  return { kind: 'exec', command: exec?.command ?? [] }
}
