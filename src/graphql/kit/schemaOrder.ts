import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isUnionType,
} from 'graphql'

interface Noun {
  /** The type of the objects that are meant. */
  readonly type: string
  /** The root fields that are about it. The first noun that a field's name matches has the field. */
  readonly fields: RegExp
}

/** What the API is about, in the order in which a newcomer meets it. The schema is shown in this order. */
const nouns: readonly Noun[] = [
  { type: 'Viewer', fields: /^viewer$/ },
  { type: 'ApplicationProfile', fields: /profile/i },
  { type: 'Service', fields: /service|previewUpdate|resetBackoff/i },
  { type: 'Rollout', fields: /rollout/i },
  { type: 'Replica', fields: /replica|log/i },
  { type: 'Endpoint', fields: /endpoint/i },
  { type: 'Event', fields: /event/i },
  { type: 'Project', fields: /project/i },
  { type: 'Queue', fields: /queue/i },
  { type: 'Host', fields: /host/i },
  { type: 'Worker', fields: /worker/i },
  { type: 'Node', fields: /^nodes?$/ },
]

/** Sorts root fields by their noun; those of one noun keep their order. Fields of no noun are last. */
export function byNoun<Entry>(entries: readonly (readonly [string, Entry])[]): (readonly [string, Entry])[] {
  return entries.toSorted(([one], [other]) => nounOf(one) - nounOf(other))
}

/** The place of a root field's noun in the table, or the number of nouns. */
export function nounOf(field: string): number {
  const place = nouns.findIndex(({ fields }) => fields.test(field))
  return place === -1 ? nouns.length : place
}

/**
 * Returns the types of the schema in the order in which it is read best: the root types, and then for each noun its type,
 * what that is made of, and what its root fields take and answer. A type that two nouns need stands at the first of them.
 */
export function typesByNoun(schema: GraphQLSchema): GraphQLNamedType[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  const rootFields = roots.flatMap((root) => Object.values(root?.getFields() ?? {}))
  const elsewhere = new Set(nouns.map(({ type }) => type))
  const found = new Set<GraphQLNamedType>(roots.filter((root) => root !== null && root !== undefined))
  const add = (type: GraphQLNamedType, isOwn = false) => {
    if (found.has(type) || (elsewhere.has(type.name) && !isOwn)) return
    found.add(type)
    for (const next of partsOf(type)) add(next)
  }
  for (const [place, { type }] of [...nouns, { type: '' }].entries()) {
    const own = schema.getType(type)
    if (own !== undefined) add(own, true)
    for (const field of rootFields) if (nounOf(field.name) === place) for (const next of namedIn(field)) add(next)
  }
  return [...found, ...Object.values(schema.getTypeMap()).filter((type) => !found.has(type))]
}

/** The types that a type is made of, in the order of its fields. */
function partsOf(type: GraphQLNamedType): GraphQLNamedType[] {
  if (isUnionType(type)) return [...type.getTypes()]
  if (isInputObjectType(type)) return Object.values(type.getFields()).map((field) => getNamedType(field.type))
  if (isObjectType(type)) return [...type.getInterfaces(), ...Object.values(type.getFields()).flatMap(namedIn)]
  if (isInterfaceType(type)) return Object.values(type.getFields()).flatMap(namedIn)
  if (isEnumType(type) || isScalarType(type)) return []
  return type satisfies never
}

function namedIn(field: GraphQLField<unknown, unknown>): GraphQLNamedType[] {
  return [getNamedType(field.type), ...field.args.map((argument) => getNamedType(argument.type))]
}
