import { type ExecutionArgs, getOperationAST, Kind, print } from 'graphql'
import { canonicalJson } from '../../model/canonicalJson.ts'
import { type GraphQLContext, viewScope } from '../kit/context.ts'

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
    canonicalJson(Object.fromEntries(variables)),
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
