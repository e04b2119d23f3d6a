import { type ExecutionArgs, getOperationAST, Kind, print } from 'graphql'
import { type GraphQLContext, viewScope } from './context.ts'

/**
 * What makes subscriptions alike: they follow the same, by the same document and operation, with the same variables (but for the one that is
 * `after`, which only concerns a subscriber's first frame), and their callers may see the same.
 */
export function groupKey(args: ExecutionArgs, identity: string): string {
  const { document, operationName, variableValues, contextValue } = args
  const after = afterVariable(args)
  const variables = Object.entries(variableValues ?? {}).filter(([name]) => name !== after)
  return JSON.stringify([
    identity,
    viewScope((contextValue as GraphQLContext).viewer),
    operationName ?? null,
    canonical(Object.fromEntries(variables)),
    document.loc?.source.body ?? print(document),
  ])
}

/** The variable that the subscription's `after` is given by. Its type fits nowhere else in the document. */
function afterVariable({ document, operationName }: ExecutionArgs): string | null {
  const operation = getOperationAST(document, operationName)
  for (const selection of operation?.selectionSet.selections ?? []) {
    if (selection.kind !== Kind.FIELD) continue
    const value = selection.arguments?.find(({ name }) => name.value === 'after')?.value
    if (value?.kind === Kind.VARIABLE) return value.name.value
  }
  return null
}

/** The value with the keys of its objects in one order. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return entries.map(([name, inner]) => [name, canonical(inner)])
}
