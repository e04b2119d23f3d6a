import {
  type ExecutionArgs,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  getDirectiveValues,
  getOperationAST,
  getVariableValues,
  Kind,
  type SelectionNode,
} from 'graphql'

/**
 * Whether @skip or @include leave a valid subscription without its root field. Validation does not look at these directives, and graphql-js 16
 * throws a TypeError of its own for such an operation.
 */
export function isRootFieldLeftOut({ schema, document, operationName, variableValues }: ExecutionArgs): boolean {
  const operation = getOperationAST(document, operationName)
  if (operation == null) return false
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {})
  // graphql-js itself reports variables that do not fit.
  if (coerced === undefined) return false
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  const isIncluded = (node: SelectionNode) =>
    getDirectiveValues(GraphQLSkipDirective, node, coerced)?.['if'] !== true &&
    getDirectiveValues(GraphQLIncludeDirective, node, coerced)?.['if'] !== false
  const hasField = (selections: readonly SelectionNode[]): boolean =>
    selections.some((node) => {
      if (!isIncluded(node)) return false
      if (node.kind === Kind.FIELD) return true
      const { selectionSet } = node.kind === Kind.INLINE_FRAGMENT ? node : (fragments.get(node.name.value) ?? {})
      return selectionSet !== undefined && hasField(selectionSet.selections)
    })
  return !hasField(operation.selectionSet.selections)
}
