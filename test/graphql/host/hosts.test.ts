import { beforeAll, describe, expect, test } from 'vitest'
import { registrationOf } from '../../support/drivers/store.ts'
import { documentOf, openApi } from '../api.ts'

const opened = openApi()

const mutations = ['cordonHost', 'uncordonHost', 'drainHost', 'removeHost', 'confirmHostLoss'] as const
const fields = 'host { name scheduling reachability reason }'
const call = async (
  mutation: (typeof mutations)[number],
  input: Record<string, unknown>,
  viewer?: Parameters<ReturnType<typeof opened>['ask']>[2],
) => {
  const answer = await opened().ask(documentOf(mutation, fields), { input }, viewer)
  return answer.data?.[mutation] ?? answer.errors
}

beforeAll(async () => {
  const worker = {
    addresses: ['127.0.0.1'],
    cpuMillis: 1_000,
    memoryMiB: 1_000,
    portRange: { from: 20_000, to: 20_010 },
    reservedPorts: [],
  }
  for (const name of ['n1', 'n2']) {
    const change = { kind: 'registerWorker', ...registrationOf({ ...worker, name, host: name }) } as const
    await opened().app.committer.write(change)
  }
})

describe.each(mutations)('%s', (mutation) => {
  test.each([['no host'], [''], ['a\u0000b']])('of %j: NotFoundError with the path', async (host) => {
    expect(await call(mutation, { host: { name: host } })).toMatchObject({
      __typename: 'NotFoundError',
      code: 'NOT_FOUND',
      path: ['input', 'host'],
    })
  })

  test('by somebody without the role admin: nothing happens', async () => {
    const before = await opened().app.database.prisma.host.findMany({ orderBy: { name: 'asc' } })
    const answer = JSON.stringify(
      await call(mutation, { host: { name: 'n1' } }, { subject: 'worker', roles: ['worker'] }),
    )
    expect(answer).toContain('FORBIDDEN')
    expect(await opened().app.database.prisma.host.findMany({ orderBy: { name: 'asc' } })).toEqual(before)
  })
})

test('what operators want of a host: each change once, with its reason and its event', async () => {
  expect(await call('cordonHost', { host: { name: 'n1' } })).toMatchObject({
    host: { scheduling: 'CORDONED', reachability: 'REACHABLE' },
  })
  expect(await call('cordonHost', { host: { name: 'n1' } })).toMatchObject({
    code: 'NO_CHANGE',
    message: 'Host n1 is CORDONED already: there is nothing to change.',
  })
  expect(await call('drainHost', { host: { name: 'n1' } })).toMatchObject({
    host: { scheduling: 'DRAINED', reason: expect.stringContaining('It is drained') },
  })
  const shown =
    '{ drained: hosts(filter: { schedulings: [DRAINED] }) { nodes { name } } draining: hosts(filter: { schedulings: [DRAINING] }) { nodes { name } } }'
  expect(await opened().data(shown)).toEqual({ drained: { nodes: [{ name: 'n1' }] }, draining: { nodes: [] } })
  expect(await call('uncordonHost', { host: { name: 'n1' } })).toMatchObject({
    host: { scheduling: 'OPEN', reason: null },
  })
  const { events } = await opened().data('{ events(first: 3) { nodes { kind actor message host { name } } } }')
  expect(events.nodes).toEqual([
    {
      kind: 'HOST',
      actor: 'alice',
      message: 'alice uncordoned host n1: it takes replicas, and those that have not left it stay.',
      host: { name: 'n1' },
    },
    {
      kind: 'HOST',
      actor: 'alice',
      message: 'alice drained host n1: it has no replicas, and takes none.',
      host: { name: 'n1' },
    },
    {
      kind: 'HOST',
      actor: 'alice',
      message: 'alice cordoned host n1: it takes no new replicas.',
      host: { name: 'n1' },
    },
  ])
})

test('a reachable host is neither lost nor removed', async () => {
  expect(await call('confirmHostLoss', { host: { name: 'n2' } })).toMatchObject({
    code: 'INVALID_STATE',
    path: ['input', 'host'],
  })
  expect(await call('removeHost', { host: { name: 'n2' } })).toMatchObject({
    code: 'INVALID_STATE',
    path: ['input', 'host'],
  })
})

test('a removed host is in no list, and what names it still can be read', async () => {
  const { prisma } = opened().app.database
  await prisma.worker.updateMany({ where: { host: { name: 'n2' } }, data: { reachability: 'UNREACHABLE' } })
  await prisma.host.update({ where: { name: 'n2' }, data: { reachability: 'UNREACHABLE' } })
  expect(await call('confirmHostLoss', { host: { name: 'n2' } })).toMatchObject({
    host: { reachability: 'LOST', reason: 'alice confirmed that it is lost.' },
  })
  expect(await call('removeHost', { host: { name: 'n2' } })).toMatchObject({
    host: { name: 'n2', reachability: 'LOST' },
  })
  const { hosts, host, events } = await opened().data(
    '{ hosts { nodes { name } } host(name: "n2") { name } events(first: 1) { nodes { host { name } } } }',
  )
  expect([hosts.nodes, host, events.nodes]).toEqual([[{ name: 'n1' }], null, [{ host: { name: 'n2' } }]])
  expect(await call('removeHost', { host: { name: 'n2' } })).toMatchObject({ code: 'NOT_FOUND' })
})

test('an idempotencyKey: the same call again is done once; a refusal is not remembered; another input is a mismatch', async () => {
  const input = { host: { name: 'n1' }, idempotencyKey: 'drain-1' }
  expect(await call('uncordonHost', input)).toMatchObject({ code: 'NO_CHANGE' })
  expect(await call('drainHost', input)).toMatchObject({ host: { scheduling: 'DRAINED' } })
  expect(await call('drainHost', input)).toMatchObject({ host: { scheduling: 'DRAINED' } })
  expect(await call('drainHost', { ...input, host: { name: 'n9' } })).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' })
  expect(await call('uncordonHost', input)).toMatchObject({ host: { scheduling: 'OPEN' } })
})
