import {
  GraphQLEnumType,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  GraphQLInterfaceType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  GraphQLUnionType,
  isEnumType,
  isInterfaceType,
  isNonNullType,
  isUnionType,
} from 'graphql'
import { errorCodes, refusalCodes } from './errorCodes.ts'

type Field = GraphQLFieldConfig<unknown, unknown>

/**
 * Returns the fields with results whose errors are of this part alone, so that ErrorCode has only the codes that its
 * callers can meet: FENCED, for example, is the answer to a worker. The failures are members of results, and nothing else
 * leads to them, so the results, the errors and the two types that errors share are made again, and the rest is as it was.
 */
export function withOwnErrors(whole: GraphQLSchema, fields: readonly (readonly [string, Field])[]): [string, Field][] {
  const face = whole.getType('Error')
  const codes = whole.getType('ErrorCode')
  if (!isInterfaceType(face) || !isEnumType(codes)) throw new Error('The API has the types Error and ErrorCode.')
  const isError = (type: GraphQLObjectType) => type.getInterfaces().includes(face)
  const unions = new Set(fields.map(([, { type }]) => unwrapped(type)).filter(isUnionType))
  const errors = new Set([...unions].flatMap((union) => union.getTypes()).filter(isError))

  const names = new Set([...errors].map(({ name }) => name))
  const own = new Set<string>(refusalCodes.filter((code) => names.has(errorCodes[code].type)))
  const { values, ...config } = codes.toConfig()
  const ownValues = Object.fromEntries(Object.entries(values).filter(([code]) => own.has(code)))
  const ownCodes = new GraphQLEnumType({ ...config, values: ownValues })
  const ownFace = new GraphQLInterfaceType({ ...face.toConfig(), fields: withCode(face.toConfig().fields, ownCodes) })
  const ownErrors = new Map(
    [...errors].map((error) => {
      const { fields, ...rest } = error.toConfig()
      return [error, new GraphQLObjectType({ ...rest, interfaces: [ownFace], fields: withCode(fields, ownCodes) })]
    }),
  )
  const ownUnions = new Map<GraphQLOutputType, GraphQLUnionType>(
    [...unions].map((union) => {
      const types = union.getTypes().map((type) => ownErrors.get(type) ?? type)
      return [union, new GraphQLUnionType({ ...union.toConfig(), types })]
    }),
  )
  return fields.map(([name, field]) => {
    const union = ownUnions.get(unwrapped(field.type))
    if (union === undefined) return [name, field]
    return [name, { ...field, type: isNonNullType(field.type) ? new GraphQLNonNull(union) : union }]
  })
}

function withCode(
  fields: GraphQLFieldConfigMap<unknown, unknown>,
  codes: GraphQLEnumType,
): GraphQLFieldConfigMap<unknown, unknown> {
  return { ...fields, code: { ...fields['code'], type: new GraphQLNonNull(codes) } }
}

const unwrapped = (type: GraphQLOutputType): GraphQLOutputType => (isNonNullType(type) ? type.ofType : type)
