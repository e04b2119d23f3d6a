import { getNamedType, isLeafType, isObjectType, isRequiredArgument } from 'graphql'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { schema } from '../../src/graphql/schema.ts'
import { type Api, documentOf, openApi, withProfile, withService } from './api.ts'

/** Runs the document; `between` is done after its first statement was answered, before it sends the next one. */
async function askAnd(api: Api, document: string, between: () => Promise<void>): ReturnType<Api['ask']> {
  const { prisma } = api.app.database
  const original = prisma.$queryRaw.bind(prisma)
  const spy = vi.spyOn(prisma, '$queryRaw').mockImplementationOnce((async (...args: Parameters<typeof original>) => {
    const rows = await original(...args)
    await between()
    return rows
  }) as never)
  try {
    return await api.ask(document)
  } finally {
    spy.mockRestore()
  }
}

/** Every field of a type without a required argument, its objects with their plain fields. */
function allFieldsOf(name: string): string {
  const type = schema.getType(name)
  if (!isObjectType(type)) throw new Error(`${name} is no object type.`)
  return Object.values(type.getFields())
    .filter(({ name, args }) => name !== 'log' && !args.some(isRequiredArgument))
    .map((field) => {
      const inner = getNamedType(field.type)
      if (isLeafType(inner)) return field.name
      if (!isObjectType(inner)) return ''
      const leaves = Object.values(inner.getFields()).filter((leaf) => isLeafType(getNamedType(leaf.type)))
      const selection = ['__typename', ...leaves.map((leaf) => leaf.name)].join(' ')
      return `${field.name} { ${inner.name.endsWith('Connection') ? 'edges { cursor }' : selection} }`
    })
    .join(' ')
}

describe('what is deleted after its parent was read', () => {
  const api = openApi()
  let name: string
  let count = 0
  beforeEach(async () => {
    await withProfile(api())
    name = `web-${++count}`
    await withService(api(), name)
  })

  /** Deletes the service; its replicas were never placed, so that it is gone at once. */
  const remove = async () => {
    await api().data(documentOf('deleteService'), { input: { service: { name } } })
    const row = await api().app.database.prisma.service.findFirstOrThrow({ where: { name } })
    expect(row.deletedAt).not.toBeNull()
  }

  /** Removes it as the retention does a day later. */
  const forget = async () => {
    await remove()
    const { prisma } = api().app.database
    const { id: serviceId } = await prisma.service.findFirstOrThrow({ where: { name } })
    await prisma.replica.deleteMany({ where: { serviceId } })
    await prisma.rollout.deleteMany({ where: { serviceId } })
    await prisma.serviceVersion.deleteMany({ where: { serviceId } })
    await prisma.slot.deleteMany({ where: { serviceId } })
    await prisma.timer.deleteMany({ where: { serviceId } })
    await prisma.service.delete({ where: { id: serviceId } })
  }

  test('the endpoint of a service is empty then', async () => {
    const document = '{ services { nodes { name endpoint { revision addresses(includeNotReady: true) { id } } } } }'
    const { data, errors } = await askAnd(api(), document, remove)
    expect(errors).toEqual([])
    const { head } = await api().app.database.prisma.feed.findUniqueOrThrow({ where: { id: 1 } })
    const shown = data.services.nodes.find((node: { name: string }) => node.name === name)
    expect(shown.endpoint).toEqual({ revision: String(head), addresses: [] })
  })

  test.each([
    ['services', 'Service'],
    ['replicas', 'Replica'],
    ['rollouts', 'Rollout'],
    ['events', 'Event'],
  ])('every field of %s has a value then', async (connection, type) => {
    const document = `{ ${connection} { nodes { ${allFieldsOf(type)} } } }`
    const { data, errors } = await askAnd(api(), document, remove)
    expect(errors).toEqual([])
    expect(data[connection].nodes.length).toBeGreaterThan(0)
  })

  test.each([
    ['services', 'Service'],
    ['replicas', 'Replica'],
    ['rollouts', 'Rollout'],
    ['events', 'Event'],
  ])('%s whose rows the retention removes then are told as no longer kept', async (connection, type) => {
    const document = `{ ${connection} { nodes { ${allFieldsOf(type)} } } }`
    const { errors } = await askAnd(api(), document, forget)
    for (const { code, message } of errors)
      expect([code, message]).toEqual(['NOT_FOUND', expect.stringContaining('is no longer kept')])
  })

  test('a key that is used again after its service is no longer kept tells so', async () => {
    const document = documentOf('scaleService', 'service { name }')
    const input = { service: { name }, replicas: 2, idempotencyKey: `key-${name}` }
    await api().data(document, { input })
    await forget()
    const { errors } = await api().ask(document, { input })
    expect(errors).toMatchObject([
      { code: 'NOT_FOUND', message: expect.stringContaining('The service is no longer kept') },
    ])
  })
})
