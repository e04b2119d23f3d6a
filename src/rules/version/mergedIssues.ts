import { bounds } from '../../model/bounds.ts'
import type { Content, PortDeclaration } from '../../model/content.ts'
import { quoted } from '../../model/quoted.ts'
import type { InputIssue } from '../../model/refusal.ts'

interface Named {
  readonly name: string
}

/**
 * R13: where exactly one port is declared, the system sets `PORT`, so nobody else may. Paths begin at the list of
 * variables.
 */
export function portVariableIssues(
  variables: readonly Named[],
  ports: readonly Pick<PortDeclaration, 'name'>[],
): InputIssue[] {
  const [only] = ports
  if (ports.length !== 1 || only === undefined) return []
  return variables.flatMap(({ name }, at) =>
    name === 'PORT'
      ? [
          {
            path: [String(at), 'name'],
            message: `"PORT" is set by the system to the number of the only port, ${quoted(only.name)}: leave it out.`,
          },
        ]
      : [],
  )
}

const probes = ['startup', 'readiness', 'liveness'] as const

/** A probe needs a declared port that speaks TCP. Paths begin with the probe's name. */
export function probePortIssues({ ports, ...content }: Pick<Content, 'ports' | (typeof probes)[number]>): InputIssue[] {
  return probes.flatMap((probe) => {
    const action = content[probe]?.action
    if (action === undefined || action.kind === 'exec') return []
    const path = [probe, action.kind, 'port']
    const declared = ports.find(({ name }) => name === action.port)
    if (declared?.protocol === 'UDP')
      return [{ path, message: `The port ${quoted(action.port)} is a UDP port: only a TCP port can be probed.` }]
    if (declared !== undefined) return []
    const names = ports.map(({ name }) => quoted(name)).join(', ') || 'none'
    return [{ path, message: `The port ${quoted(action.port)} is not declared: declared are ${names}.` }]
  })
}

/**
 * What is wrong with a version's content once the profile's and the service's own part are merged. The profile and
 * the service may each change in commits of their own, so only the rule, which decides on the guarded version, can
 * judge them together. Paths begin with the field, and those of `env` go on with the position in the service's own list.
 */
export function mergedIssues(content: Content, own: readonly Named[]): InputIssue[] {
  const { max } = bounds.variables
  const { length } = content.env
  const tooMany =
    length > max
      ? [{ path: ['env'], message: `With the profile's there are ${length} variables: at most ${max} are allowed.` }]
      : []
  const ofSystem = portVariableIssues(own, content.ports).map(({ path, message }) => ({
    path: ['env', ...path],
    message,
  }))
  return [...ofSystem, ...tooMany, ...probePortIssues(content)]
}
