import { CriticalityLevel, diff } from '@graphql-inspector/core'
import { buildSchema, type GraphQLSchema, isInputObjectType } from 'graphql'

/** Parts of the contract that the API does not have yet. */
export interface Unbuilt {
  readonly reason: string
  /** Names of types, or paths such as `Mutation.drainHost` and `Query.hosts.filter`. */
  readonly paths: readonly string[]
}

/**
 * One sentence for each breach of the contract by the API. The API may add to the contract; its outputs may be stricter
 * about null, and its inputs looser. An unbuilt part has to be missing, so that the list can only shrink.
 */
export async function breachesOfContract(
  contract: string,
  api: string,
  unbuilt: readonly Unbuilt[],
): Promise<readonly string[]> {
  const before = buildSchema(contract)
  const after = buildSchema(api)
  const changes = await diff(before, after)
  const breaches = changes.filter(
    ({ type, criticality: { level } }) =>
      level === CriticalityLevel.Breaking || (level === CriticalityLevel.Dangerous && !type.endsWith('_ADDED')),
  )
  const listed = new Set(unbuilt.flatMap(({ paths }) => paths))
  const missing = new Set(
    breaches.filter(({ type }) => type.endsWith('_REMOVED')).map(({ path, message }) => path ?? message),
  )
  return [
    ...breaches
      .filter(({ type, path, message }) => !(type.endsWith('_REMOVED') && listed.has(path ?? message)))
      .map(({ path, message }) => `${path ?? 'The schema'}: from the contract to the API, ${message}.`),
    ...changedChoices(before, after),
    ...[...listed]
      .filter((path) => !missing.has(path))
      .map((path) => `${path} is built: remove it from the list of unbuilt parts.`),
  ]
}

/** graphql-inspector does not compare @oneOf. */
function changedChoices(before: GraphQLSchema, after: GraphQLSchema): string[] {
  return Object.values(before.getTypeMap()).flatMap((type) => {
    const now = after.getType(type.name)
    if (!isInputObjectType(type) || !isInputObjectType(now) || type.isOneOf === now.isOneOf) return []
    return [
      `${type.name} ${type.isOneOf ? 'is @oneOf in the contract, and not in the API' : 'is @oneOf in the API, and not in the contract'}.`,
    ]
  })
}
