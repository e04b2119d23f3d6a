import { bounds } from '../../model/bounds.ts'
import type { HttpProbeAction, Probe } from '../../model/content.ts'
import { quoted } from '../../model/quoted.ts'
import { defaultProbe, probeWith } from '../../rules/service/defaults.ts'
import { builder } from '../kit/builder.ts'
import { type Fault, noneLeft, type PartOf } from '../kit/check.ts'
import { checkCommand, pathFaults, whole } from '../kit/values.ts'
import { ProbeScheme } from './content.ts'
import { headerNameFaults, headersFaults, headerValueFaults } from './probeHeaders.ts'

const port = { required: true, description: 'The name of a declared TCP port.' } as const

const HttpHeaderInput = builder.inputType('HttpHeaderInput', {
  description: 'A header of a request.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'Letters, digits and "-", as in "X-Probe"; not Connection, Content-Length or Transfer-Encoding.',
      check: headerNameFaults,
    }),
    value: t.string({ required: true, description: 'Printable ASCII characters.', check: headerValueFaults }),
  }),
})

const HttpProbeInput = builder.inputType('HttpProbeInput', {
  description:
    'A GET that has to be answered with a status from 200 to 399. Redirects are not followed, and nothing but the status is read.',
  fields: (t) => ({
    port: t.string(port),
    path: t.string({
      required: true,
      defaultValue: '/',
      description: `The path, beginning with "/", at most ${bounds.pathLength} characters.`,
      check: requestPathFaults,
    }),
    scheme: t.field({
      type: ProbeScheme,
      required: true,
      defaultValue: 'HTTP',
      description: 'HTTP, or HTTPS with any certificate.',
    }),
    headers: t.field({
      type: [HttpHeaderInput],
      description: `Headers besides the probe's own Host, User-Agent and Accept, or instead of them; at most ${bounds.probeHeaders.max} of together at most ${bounds.probeHeaderBytes} bytes. The default Host is the address and the port.`,
      check: headersFaults,
    }),
  }),
})

const TcpProbeInput = builder.inputType('TcpProbeInput', {
  description: 'A TCP connection that has to open.',
  fields: (t) => ({ port: t.string(port) }),
})

const ExecProbeInput = builder.inputType('ExecProbeInput', {
  description: 'A command that has to end with status 0.',
  fields: (t) => ({
    command: t.stringList({
      required: true,
      description: 'The program and its arguments; no shell.',
      check: checkCommand,
    }),
  }),
})

export const ProbeInput = builder.inputType('ProbeInput', {
  description: 'A probe: exactly one of http, tcp and exec.',
  fields: (t) => ({
    http: t.field({ type: HttpProbeInput, description: 'Send an HTTP request.' }),
    tcp: t.field({ type: TcpProbeInput, description: 'Open a TCP connection.' }),
    exec: t.field({ type: ExecProbeInput, description: 'Run a command.' }),
    initialDelaySeconds: t.int(
      whole(
        bounds.probeInitialDelaySeconds,
        'the seconds before the first probe',
        (range) => `Seconds before the first probe, ${range}; ${defaultProbe.initialDelaySeconds} when left out.`,
      ),
    ),
    periodSeconds: t.int(
      whole(
        bounds.probePeriodSeconds,
        'the seconds between two probes',
        (range) => `Seconds between two probes, ${range}; ${defaultProbe.periodSeconds} when left out.`,
      ),
    ),
    timeoutSeconds: t.int(
      whole(
        bounds.probeTimeoutSeconds,
        'the seconds until a probe has failed',
        (range) => `Seconds until a probe has failed, ${range}; ${defaultProbe.timeoutSeconds} when left out.`,
      ),
    ),
    failureThreshold: t.int(
      whole(
        bounds.probeThreshold,
        'failures in a row',
        (range) => `Failures in a row that make it fail, ${range}; ${defaultProbe.failureThreshold} when left out.`,
      ),
    ),
    successThreshold: t.int(
      whole(
        bounds.probeThreshold,
        'successes in a row',
        (range) =>
          `Successes in a row that make it succeed, ${range}; ${defaultProbe.successThreshold} when left out, and always ${defaultProbe.successThreshold} for a startup or liveness probe.`,
      ),
    ),
  }),
  check: ({ http, tcp, exec }) => {
    const given = Object.entries({ http, tcp, exec }).filter(([, action]) => action !== null && action !== undefined)
    const kinds = given.length === 0 ? 'none' : given.map(([kind]) => kind).join(' and ')
    return given.length === 1 ? [] : [{ message: `The probe has ${kinds} of http, tcp and exec: give exactly one.` }]
  },
})
type ProbeInputValue = typeof ProbeInput.$inferInput

/** Null when no probe is given. */
export function probeOf(input: ProbeInputValue | null | undefined): Probe | null {
  if (input === null || input === undefined) return null
  const { http, tcp, exec, ...times } = input
  return probeWith(actionOf({ http, tcp, exec }), timesOf(times))
}

type Times = Omit<ProbeInputValue, 'http' | 'tcp' | 'exec'>
const timesOf = (times: PartOf<Probe, Times>) => times

function actionOf({ http, tcp, exec }: Pick<ProbeInputValue, 'http' | 'tcp' | 'exec'>): Probe['action'] {
  if (http) {
    const { port, path, scheme, headers, ...rest } = http
    noneLeft(rest)
    return { kind: 'http', port, path, scheme, headers: headers ?? [] } satisfies HttpProbeAction
  }
  if (tcp) {
    const { port, ...rest } = tcp
    noneLeft(rest)
    return { kind: 'tcp', port }
  }
  const { command, ...rest } = exec ?? { command: [] }
  noneLeft(rest)
  return { kind: 'exec', command }
}

/** A startup or liveness probe has succeeded with one success: another number could not be obeyed. */
export function singleSuccessFaults(probe: ProbeInputValue): Fault[] {
  const given = probe.successThreshold ?? 1
  const message = `${given} successes in a row can't be asked for: a startup or liveness probe has succeeded with 1.`
  return given === 1 ? [] : [{ path: ['successThreshold'], message }]
}

function requestPathFaults(path: string): Fault[] {
  // A request line ends at a blank or a line break.
  if (/[\s]/.test(path)) return [{ message: `The path ${quoted(path)} contains a blank: write it as %20.` }]
  const [odd] = /[^!-~\0]/u.exec(path) ?? []
  if (odd === undefined) return pathFaults('The path', path)
  const message = `The path ${quoted(path)} contains ${quoted(odd)}, which no request line can carry: percent-encode it.`
  return [{ message }]
}
