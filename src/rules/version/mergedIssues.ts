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

/**
 * What is wrong with a version's content once the profile and the service's own variables are merged. The profile and
 * the service may each change in commits of their own, so only the rule, which decides on the guarded version, can
 * judge them together. Paths begin at the list of the service's own variables.
 */
export function mergedIssues(content: Content, own: readonly Named[]): InputIssue[] {
  const { max } = bounds.variables
  const { length } = content.env
  const tooMany =
    length > max
      ? [{ path: [], message: `With the profile's there are ${length} variables: at most ${max} are allowed.` }]
      : []
  return [...portVariableIssues(own, content.ports), ...tooMany]
}
