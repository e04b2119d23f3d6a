import {
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
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
import { builder } from '../../src/graphql/kit/builder.ts'
import { createContext, type Viewer } from '../../src/graphql/kit/context.ts'
import { errorCodes } from '../../src/graphql/kit/errorCodes.ts'
import { decodeGlobalId, encodeGlobalId } from '../../src/graphql/kit/globalId.ts'
import { schema, workerSchema } from '../../src/graphql/schema.ts'
import type { RefusalCode } from '../../src/model/refusal.ts'
import { openApi } from './api.ts'

const typesOf = (of: GraphQLSchema) =>
  Object.values(of.getTypeMap()).filter((type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type))
const types = typesOf(schema)

test('everything of the API is described', () => {
  const bare: string[] = []
  const look = (name: string, { description }: { readonly description?: string | null | undefined }) => {
    if (!description) bare.push(name)
  }
  for (const type of [...types, ...typesOf(workerSchema)]) {
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

test('the API of users and the worker’s protocol share values, and are all that the code declares', () => {
  const names = [schema, workerSchema].map((of) => new Set(typesOf(of).map(({ name }) => name)))
  const declared = typesOf(builder.toSchema()).map(({ name }) => name)
  expect(declared.filter((name) => !names.some((known) => known.has(name)))).toEqual([])
  const [users, workers] = names
  for (const name of ['RegisterWorkerInput', 'Assignment', 'FencedError', 'OvertakenError'])
    expect([users?.has(name), workers?.has(name)]).toEqual([false, true])
  // No object of a worker leads to what only admins may read.
  for (const name of ['Node', 'Host', 'Service', 'Replica', 'Worker'])
    expect([users?.has(name), workers?.has(name)]).toEqual([true, false])
})

test('whatever means a service, a host, a worker or a replica is named by a reference, or by its fields', () => {
  const things = new Set(['service', 'host', 'worker', 'replica'])
  const named: Record<string, string> = {}
  const look = (where: string, { name, type }: { readonly name: string; readonly type: GraphQLInputType }) => {
    if (things.has(name)) named[`${where}.${name}`] = getNamedType(type).name
  }
  for (const type of types) {
    if (isInputObjectType(type)) for (const field of Object.values(type.getFields())) look(type.name, field)
    if (!isObjectType(type)) continue
    for (const field of Object.values(type.getFields()))
      for (const argument of field.args) look(`${type.name}.${field.name}`, argument)
  }
  // The settings of services in a profile.
  delete named['ApplyProfileInput.service']
  expect(Object.keys(named).length).toBeGreaterThan(18)
  for (const [where, type] of Object.entries(named)) {
    const thing = where.slice(where.lastIndexOf('.') + 1)
    expect(type, where).toBe(`${thing.charAt(0).toUpperCase()}${thing.slice(1)}Reference`)
  }
})

test('an expected failure is an Error, and every mutation can answer what any caller can cause', () => {
  const mutations = [schema, workerSchema].flatMap((of) => Object.values(of.getMutationType()?.getFields() ?? {}))
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

test.each([
  ['users', schema, ['FENCED', 'OVERTAKEN']],
  ['workers', workerSchema, ['CONFLICT', 'NAME_TAKEN', 'QUOTA_EXCEEDED']],
])('the codes in the API of %s are those of its errors, and no others', (_, of, others) => {
  const errors = of.getPossibleTypes(of.getType('Error') as GraphQLInterfaceType).map(({ name }) => name)
  const codes = (of.getType('ErrorCode') as GraphQLEnumType).getValues().map(({ name }) => name)
  expect(codes.map((code) => errorCodes[code as RefusalCode].type).sort()).toEqual([...errors].sort())
  expect(codes.length).toBeGreaterThan(3)
  expect(codes.filter((code) => others.includes(code))).toEqual([])
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
  const fieldsOf = (of: GraphQLSchema) =>
    [of.getQueryType(), of.getMutationType()]
      .filter((root) => root !== undefined && root !== null)
      .flatMap((root) => Object.values(root.getFields()).map((field) => [documentOf(root, field), field.name] as const))
  const fields = fieldsOf(schema)

  test.each(fields)('%s without a token is UNAUTHENTICATED', async (document) => {
    const { errors } = await api().ask(document, {}, null)
    expect(errors.map(({ code }) => code)).toEqual(['UNAUTHENTICATED'])
  })

  test.each(fieldsOf(workerSchema))('%s of the worker’s protocol is for workers alone', async (document) => {
    const codes = async (viewer: Viewer | null) =>
      (await api().worker.ask(document, {}, viewer)).errors.map(({ code }) => code)
    expect(await codes(null)).toEqual(['UNAUTHENTICATED'])
    const { data, errors } = await api().worker.ask(document, {}, { subject: 'prometheus', roles: ['metrics'] })
    if (errors.length > 0) expect(errors.map(({ code }) => code)).toEqual(['FORBIDDEN'])
    else expect(Object.values(data)).toEqual([{ __typename: 'ForbiddenError' }])
  })

  test.each(fields.filter(([, name]) => name !== 'viewer'))(
    '%s with a token of a worker is FORBIDDEN',
    async (document, name) => {
      const { data, errors } = await api().ask(document, {}, { subject: 'worker-1', roles: ['worker'] })
      if (errors.length === 0) expect(data[name].__typename).toBe('ForbiddenError')
      else expect(errors.map(({ code }) => code)).toEqual(['FORBIDDEN'])
    },
  )

  const feeds = [schema, workerSchema].flatMap((of) => {
    const subscription = of.getSubscriptionType()
    return Object.values(subscription?.getFields() ?? {}).map(
      (field) => [documentOf(subscription as GraphQLObjectType, field), of] as const,
    )
  })

  test.each(feeds)('%s without a token is UNAUTHENTICATED', async (document, of) => {
    const result = await subscribe({
      schema: of,
      document: parse(document),
      contextValue: createContext(api().app, null),
    })
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
    Float: '1',
    Boolean: 'true',
    ID: '"Service_01890a5d-ac96-774b-bcce-b302099a8057"',
    DateTime: '"2026-01-31T12:00:00.000Z"',
  }
  return values[type.name] ?? '"x"'
}
