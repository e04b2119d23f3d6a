import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
  parse,
  subscribe,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import { createContext } from '../../src/graphql/kit/context.ts'
import { decodeGlobalId, encodeGlobalId } from '../../src/graphql/kit/globalId.ts'
import { schema } from '../../src/graphql/schema.ts'
import { openApi } from './api.ts'

const types = Object.values(schema.getTypeMap()).filter(
  (type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type),
)

test('everything of the API is described', () => {
  const bare: string[] = []
  const look = (name: string, { description }: { readonly description?: string | null | undefined }) => {
    if (!description) bare.push(name)
  }
  for (const type of types) {
    look(type.name, type)
    if (isEnumType(type)) for (const value of type.getValues()) look(`${type.name}.${value.name}`, value)
    if (!('getFields' in type)) continue
    for (const field of Object.values(type.getFields())) {
      look(`${type.name}.${field.name}`, field)
      for (const argument of 'args' in field ? field.args : [])
        look(`${type.name}.${field.name}(${argument.name})`, argument)
    }
  }
  expect(types.length).toBeGreaterThan(100)
  expect(bare).toEqual([])
})

test('an expected failure is an Error, and every mutation can answer what any caller can cause', () => {
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {})
  expect(mutations.length).toBeGreaterThanOrEqual(8)
  for (const { name, type } of mutations) {
    const union = getNamedType(type)
    expect(union.name).toBe(`${name.charAt(0).toUpperCase()}${name.slice(1)}Result`)
    const members = 'getTypes' in union ? union.getTypes() : []
    expect(members.map((member) => member.name)).toEqual(
      expect.arrayContaining([union.name.replace(/Result$/, 'Payload'), 'ForbiddenError']),
    )
    for (const member of members.filter((candidate) => candidate.name.endsWith('Error'))) {
      expect(member.getInterfaces().map((face) => face.name)).toEqual(['Error'])
    }
  }
})

test('the ids of every node are known, and of nothing else', () => {
  const ids = ['01890a5d-ac96-774b-bcce-b302099a8057', '17']
  const nodes = types.filter((type) => isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node'))
  const known = types.filter(({ name }) => ids.some((id) => decodeGlobalId(encodeGlobalId(name, id)) !== null))
  expect(known).toEqual(nodes)
  expect(nodes.length).toBe(12)
})

describe('closed by default', () => {
  const api = openApi()
  const roots = [schema.getQueryType(), schema.getMutationType()].filter((root) => root !== undefined && root !== null)
  const fields = roots.flatMap((root) =>
    Object.values(root.getFields()).map((field) => [documentOf(root, field), field.name] as const),
  )

  test.each(fields)('%s without a token is UNAUTHENTICATED', async (document) => {
    const { errors } = await api().ask(document, {}, null)
    expect(errors.map(({ code }) => code)).toEqual(['UNAUTHENTICATED'])
  })

  const workers = [
    'viewer',
    'registerWorker',
    'renewLease',
    'reportReplicas',
    'reportFreePorts',
    'answerLogRequest',
    'drainWorker',
    'endWorker',
    'workerDrain',
  ]

  test.each(fields.filter(([, name]) => !workers.includes(name)))(
    '%s with a token of a worker is FORBIDDEN',
    async (document, name) => {
      const { data, errors } = await api().ask(document, {}, { subject: 'worker-1', roles: ['worker'] })
      if (errors.length === 0) expect(data[name].__typename).toBe('ForbiddenError')
      else expect(errors.map(({ code }) => code)).toEqual(['FORBIDDEN'])
    },
  )

  const subscription = schema.getSubscriptionType()
  const feeds = Object.values(subscription?.getFields() ?? {}).map((field) =>
    documentOf(subscription as GraphQLObjectType, field),
  )

  test.each(feeds)('%s without a token is UNAUTHENTICATED', async (document) => {
    const result = await subscribe({ schema, document: parse(document), contextValue: createContext(api().app, null) })
    expect('errors' in result ? result.errors?.map(({ extensions }) => extensions['code']) : 'it subscribes').toEqual([
      'UNAUTHENTICATED',
    ])
  })

  test('a viewer sees itself', async () => {
    const viewer = { subject: 'worker-1', roles: ['worker'] }
    expect(await api().data('{ viewer { subject roles } }', {}, viewer)).toEqual({ viewer })
  })
})

/** A document that asks for a root field with some valid arguments. */
function documentOf(root: GraphQLObjectType, field: GraphQLField<unknown, unknown>): string {
  const args = field.args.filter(({ type }) => isNonNullType(type)).map(({ name, type }) => `${name}: ${literal(type)}`)
  return `${root.name.toLowerCase()} { ${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''} { __typename } }`
}

function literal(type: GraphQLInputType): string {
  if (isNonNullType(type)) return literal(type.ofType)
  if (isListType(type)) return `[${literal(type.ofType)}]`
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter((field) => isNonNullType(field.type))
    return `{ ${required.map((field) => `${field.name}: ${literal(field.type)}`).join(', ')} }`
  }
  if (isEnumType(type)) return String(type.getValues()[0]?.name)
  if (isObjectType(type)) throw new Error(`${type} is no input type.`)
  const values: Readonly<Record<string, string>> = {
    Int: '1',
    Boolean: 'true',
    ID: '"Service_01890a5d-ac96-774b-bcce-b302099a8057"',
    DateTime: '"2026-01-31T12:00:00.000Z"',
  }
  return values[type.name] ?? '"x"'
}
