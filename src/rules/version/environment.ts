import { bounds } from '../../model/bounds.ts'
import type { EnvironmentVariable, GivenVariable, Overrides } from '../../model/content.ts'
import { quoted } from '../../model/quoted.ts'
import type { InputIssue } from '../../model/refusal.ts'

/**
 * Gives each variable its value. One without a value keeps the secret that is stored under its name, because the API
 * shows a secret without its value, and what was read can be sent back. Only the rule can decide this: another commit may
 * have changed the stored variables since they were read. Paths begin at the list of the given ones.
 */
export function withKeptSecrets(
  given: readonly GivenVariable[],
  stored: readonly EnvironmentVariable[],
): { readonly variables: readonly EnvironmentVariable[]; readonly issues: readonly InputIssue[] } {
  const secrets = new Map(stored.filter(({ secret }) => secret).map((variable) => [variable.name, variable]))
  const variables: EnvironmentVariable[] = []
  const issues: InputIssue[] = []
  for (const [at, { name, value, secret }] of given.entries()) {
    const kept = secrets.get(name)
    if (value !== null) variables.push({ name, value, secret })
    else if (kept !== undefined) variables.push(kept)
    else issues.push({ path: [String(at), 'value'], message: nothingToKeep(name) })
  }
  return { variables, issues }
}

function nothingToKeep(name: string): string {
  return `The variable ${quoted(name)} has no value, and there is no secret of this name to keep: give a value, or leave the variable out.`
}

/** A change of a service's own part of the environment. Fields left out change nothing. */
interface EnvironmentChange {
  /** Replaces the service's own variables; null goes back to the profile's environment. */
  readonly env?: readonly EnvironmentVariable[] | null | undefined
  readonly setEnv?: readonly EnvironmentVariable[] | undefined
  readonly unsetEnv?: readonly string[] | undefined
}

type OwnEnvironment = Pick<Overrides, 'env' | 'unsetEnv'>

/**
 * Changes a service's own part of the environment. Unsetting a variable removes the service's own value, and hides the
 * profile's variable until the service sets it, or until `env: null`. A list `env` alone hides and shows nothing else, so
 * that variables can be read and sent back. A list `env` with `unsetEnv` is the whole own part.
 */
export function changedEnvironment(
  before: OwnEnvironment,
  profile: readonly EnvironmentVariable[],
  { env, setEnv = [], unsetEnv }: EnvironmentChange,
): OwnEnvironment {
  const own = new Map((env === undefined ? before.env : (env ?? [])).map((variable) => [variable.name, variable]))
  for (const name of unsetEnv ?? []) own.delete(name)
  for (const variable of setEnv) own.set(variable.name, variable)
  const isWhole = env === null || (env !== undefined && unsetEnv !== undefined)
  const known = new Set([...profile.map(({ name }) => name), ...before.unsetEnv])
  const hidden = new Set([...(isWhole ? [] : before.unsetEnv), ...(unsetEnv ?? []).filter((name) => known.has(name))])
  return { env: [...own.values()], unsetEnv: [...hidden].filter((name) => !own.has(name)) }
}

/** A service's own part has a bound, too: over many revisions of its profile it could hide ever more names. */
export function hiddenIssues({ unsetEnv }: OwnEnvironment): InputIssue[] {
  const { max } = bounds.variables
  if (unsetEnv.length <= max) return []
  const message = `With those that the service hides already there are ${unsetEnv.length} hidden variables: at most ${max} are allowed. Go back to the profile's environment with env: null.`
  return [{ path: [], message }]
}
