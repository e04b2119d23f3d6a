import { type ExecutionArgs, getOperationAST, Kind, print } from 'graphql'
import { canonicalJson } from '../../model/canonicalJson.ts'
import { type GraphQLContext, viewScope } from '../kit/context.ts'

/**
 * Subscriptions with the same key share their frames. They follow the same thing by the same document and operation, with the same variables, and
 * their callers may see the same. The variable of `after` does not count, because it concerns only a subscriber's first frame.
 */
export function groupKey(args: ExecutionArgs, identity: string): string {
  const { document, operationName, variableValues, contextValue } = args
  const after = afterVariable(args)
  const variables = Object.entries(variableValues ?? {}).filter(([name]) => name !== after)
  return JSON.stringify([
    identity,
    viewScope((contextValue as GraphQLContext).viewer),
    operationName ?? null,
    canonicalJson(Object.fromEntries(variables)),
    document.loc?.source.body ?? print(document),
  ])
}

/** Finds the variable that gives the subscription's `after`. No other argument can use it, because none has its type. */
function afterVariable({ document, operationName }: ExecutionArgs): string | null {
  const operation = getOperationAST(document, operationName)
  for (const selection of operation?.selectionSet.selections ?? []) {
    if (selection.kind !== Kind.FIELD) continue
    const value = selection.arguments?.find(({ name }) => name.value === 'after')?.value
    if (value?.kind === Kind.VARIABLE) return value.name.value
  }
  return null
}
