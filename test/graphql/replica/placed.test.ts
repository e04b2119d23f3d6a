import { beforeAll, describe, expect, test } from 'vitest'
import type { Viewer } from '../../../src/graphql/kit/context.ts'
import type { ServiceId } from '../../../src/model/id.ts'
import { place } from '../../../src/rules/placement/placement.ts'
import { readPlacement } from '../../../src/store/read/readPlacement.ts'
import { type Data, documentOf, openApi, withProfile, withService } from '../api.ts'

// What the API shows once a worker is there and replicas run: placed by one run of placement, reported through the worker's protocol.

const api = openApi()
const worker: Viewer = { subject: 'worker-1', roles: ['worker'] }
const input = {
  name: 'worker-1',
  host: 'node1',
  addresses: ['10.0.0.1', 'fd00::1'],
  cpuMillis: 4000,
  memoryMiB: 4096,
  portRange: { from: 20_000, to: 20_100 },
  softwareVersion: '1.2.3',
  protocolVersion: 1,
  stateDirectoryId: 'of worker-1',
  registrationNumber: 1,
  running: [],
}
let registered: Data
let globalHostId: string

beforeAll(async () => {
  registered = (await api().worker.data(documentOf('registerWorker', 'worker epoch'), { input }, worker)).registerWorker
  globalHostId = (await api().data('{ host(name: "node1") { id } }')).host.id
  await withProfile(api(), { readiness: { tcp: { port: 'http' } } })
  await withService(api(), 'web', { replicas: 3 })
  const { app } = api()
  const { grants } = place({ ...(await readPlacement(app.database)), now: app.clock.now() })
  await app.committer.submit(grants[0]?.serviceId as ServiceId, { kind: 'grant', grants })
  const { service } = await api().data('{ service(name: "web") { replicas { nodes { id index ports { port } } } } }')
  const reports = service.replicas.nodes.map(({ id: replica, index, ports }: Data) => ({
    replica,
    start: 1,
    state: 'RUNNING',
    ready: index < 2,
    ports: ports.map(({ port }: Data) => port),
  }))
  const report = { worker: registered.worker, epoch: registered.epoch, sequence: 1, reports }
  expect(
    (await api().worker.data(documentOf('reportReplicas'), { input: report }, worker)).reportReplicas.__typename,
  ).toBe('ReportReplicasPayload')
})

const host = `id name addresses scheduling schedulingSince reachability reachabilitySince reason cpuMillis memoryMiB usedCpuMillis usedMemoryMiB portRange { from to } usedPorts quarantinedPorts
  workers { id reachability reachabilitySince cpuMillis memoryMiB softwareVersion registeredAt lastSeenAt host { name } } replicas { nodes { index } }`

test('a host shows what it has and what is used', async () => {
  const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const expected = {
    id: globalHostId,
    name: 'node1',
    addresses: ['10.0.0.1', 'fd00::1'],
    scheduling: 'OPEN',
    schedulingSince: instant,
    reachability: 'REACHABLE',
    reachabilitySince: instant,
    reason: null,
    cpuMillis: 4000,
    memoryMiB: 4096,
    usedCpuMillis: 300,
    usedMemoryMiB: 384,
    portRange: { from: 20_000, to: 20_100 },
    usedPorts: 3,
    quarantinedPorts: [],
    workers: [
      {
        id: registered.worker,
        reachability: 'REACHABLE',
        reachabilitySince: instant,
        cpuMillis: 4000,
        memoryMiB: 4096,
        softwareVersion: '1.2.3',
        registeredAt: instant,
        lastSeenAt: instant,
        host: { name: 'node1' },
      },
    ],
    replicas: { nodes: [{ index: 2 }, { index: 1 }, { index: 0 }] },
  }
  const filter = 'filter: { schedulings: [OPEN], reachabilities: [REACHABLE] }'
  const answer = await api().data(
    `query Hosts($id: ID!) { host(name: "node1") { ${host} } hosts(${filter}) { nodes { ${host} } } node(id: $id) { ... on Host { ${host} } } none: hosts(filter: { schedulings: [CORDONED] }) { nodes { id } } nobody: host(name: "node2") { id } }`,
    { id: globalHostId },
  )
  const shown = { ...expected, replicas: { nodes: expect.arrayContaining(expected.replicas.nodes) } }
  expect(answer).toEqual({ host: shown, hosts: { nodes: [shown] }, node: shown, none: { nodes: [] }, nobody: null })
})

test('a port in quarantine is shown while it lasts', async () => {
  const { app } = api()
  const hostId = globalHostId.slice('Host_'.length)
  const until = (millis: number) => new Date(app.clock.now() + millis)
  await app.database.prisma.hostPort.createMany({
    data: [
      { hostId, port: 20_050, protocol: 'TCP', quarantinedUntil: until(60_000) },
      { hostId, port: 20_051, protocol: 'TCP', quarantinedUntil: until(-1) },
    ],
  })
  expect(await api().data('{ host(name: "node1") { quarantinedPorts } }')).toEqual({
    host: { quarantinedPorts: [20_050] },
  })
})

test('the endpoint lists what is ready, and on request what runs', async () => {
  const address =
    'id replicaId replica { id } index start host address addresses port protocol portName hostPort ready serving terminating'
  const { endpoint, service } = await api().data(
    `{ endpoint(service: { name: "web" }) { id revision service { name } addresses { ${address} } all: addresses(includeNotReady: true) { index ready } other: addresses(port: "other") { id } } service(name: "web") { endpoint { addresses { index } } revision readyReplicas runningReplicas } }`,
  )
  expect(endpoint.addresses.map(({ index }: Data) => index)).toEqual([0, 1])
  expect(endpoint.all).toEqual([
    { index: 0, ready: true },
    { index: 1, ready: true },
    { index: 2, ready: false },
  ])
  expect(endpoint.other).toEqual([])
  expect(endpoint.service.name).toBe('web')
  const [first] = endpoint.addresses
  expect(first).toMatchObject({
    replica: { id: first.replicaId },
    start: 1,
    host: 'node1',
    address: '10.0.0.1',
    addresses: ['10.0.0.1', 'fd00::1'],
    protocol: 'TCP',
    portName: 'http',
    hostPort: `10.0.0.1:${first.port}`,
    ready: true,
    serving: true,
    terminating: false,
  })
  expect(first.id).toBe(`${first.replicaId.slice('Replica_'.length)}:http:1`)
  expect(service).toMatchObject({
    endpoint: { addresses: [{ index: 0 }, { index: 1 }] },
    readyReplicas: 2,
    runningReplicas: 3,
  })
  expect(BigInt(endpoint.revision)).toBeGreaterThanOrEqual(BigInt(service.revision))
})

test('a replica shows its host and ports', async () => {
  const filter = 'filter: { states: [RUNNING], ready: true, hosts: ["node1"], services: [{ name: "web" }] }'
  const { replicas } = await api().data(
    `{ replicas(${filter}) { nodes { state ready readySince start restarts leaving host { name } ports { name port protocol } blocker { reason } endReason exitCode exitSignal startedAt endedAt version { number } } } }`,
  )
  expect(replicas.nodes).toHaveLength(2)
  for (const replica of replicas.nodes) {
    expect(replica).toMatchObject({
      state: 'RUNNING',
      ready: true,
      readySince: expect.any(String),
      start: 1,
      restarts: 0,
      host: { name: 'node1' },
      ports: [{ name: 'http', port: expect.any(Number), protocol: 'TCP' }],
      blocker: null,
      endReason: null,
      startedAt: expect.any(String),
      endedAt: null,
    })
  }
})

test('back with an IPv6 address as its primary one, its replicas are listed there, in brackets', async () => {
  const { service } = await api().data('{ service(name: "web") { replicas { nodes { id index ports { port } } } } }')
  const running = service.replicas.nodes.map(({ id: replica, index, ports }: Data) => ({
    replica,
    start: 1,
    state: 'RUNNING',
    ready: index < 2,
    ports: ports.map(({ port }: Data) => port),
  }))
  registered = (
    await api().worker.data(
      documentOf('registerWorker', 'worker epoch'),
      { input: { ...input, registrationNumber: 2, addresses: ['fd00::1'], running } },
      worker,
    )
  ).registerWorker
  const { endpoint } = await api().data(
    '{ endpoint(service: { name: "web" }) { addresses { address addresses port hostPort } } }',
  )
  expect(endpoint.addresses).toHaveLength(2)
  for (const { port, ...shown } of endpoint.addresses) {
    expect(shown).toEqual({ address: 'fd00::1', addresses: ['fd00::1'], hostPort: `[fd00::1]:${port}` })
  }
})

describe('what a worker tells of a replica', () => {
  const read = async (id: string) => {
    const fields = `lastProbe { kind ok message count since at } lastExit { start code signal at message }`
    const { node } = await api().data(`{ node(id: "${id}") { ... on Replica { ports { port } ${fields} } } }`)
    return node
  }
  const tell = async (id: string, sequence: number, over: Data) => {
    const ports = (await read(id)).ports.map(({ port }: Data) => port)
    const reports = [{ replica: id, start: 1, state: 'RUNNING', ready: false, ports, ...over }]
    const report = { worker: registered.worker, epoch: registered.epoch, sequence, reports }
    return (await api().worker.data(documentOf('reportReplicas'), { input: report }, worker)).reportReplicas
  }
  const unready = async (): Promise<string> => {
    const { replicas } = await api().data('{ replicas(filter: { ready: false, states: [RUNNING] }) { nodes { id } } }')
    return replicas.nodes[0].id
  }

  test('of its probes and its last exit is shown, cut and without control characters', async () => {
    const id = await unready()
    const probe = {
      kind: 'READINESS',
      ok: false,
      message: `\u001b[31mGET /\r\n\u202e${'x'.repeat(400)}`,
      count: 12,
      seconds: 40,
    }
    expect((await tell(id, 1, { probe })).__typename).toBe('ReportReplicasPayload')
    const { lastProbe, lastExit } = await read(id)
    expect(lastProbe).toMatchObject({ kind: 'READINESS', ok: false, count: 12 })
    expect(lastProbe.message).toMatch(/^\[31mGET \/ x+$/)
    expect(lastProbe.message.length).toBeLessThanOrEqual(300)
    expect(Date.parse(lastProbe.since)).toBeLessThanOrEqual(Date.parse(lastProbe.at))
    expect(lastExit).toBeNull()
    await tell(id, 2, { start: 2, exitSignal: 'KILL', message: 'The process\twas ended by SIGKILL.\u0000' })
    const after = await read(id)
    expect(after.lastProbe).toBeNull()
    const message = 'The process was ended by SIGKILL.'
    expect(after.lastExit).toMatchObject({ start: 1, code: null, signal: 'KILL', message })
  })

  test.each([
    [{ count: 0 }, 'count', 'count is 0: the first result is 1.'],
    [{ seconds: -1 }, 'seconds', 'seconds is -1: what has just happened is 0.'],
  ])('is refused with %j', async (over, field, message) => {
    const probe = { kind: 'STARTUP', ok: true, count: 1, seconds: 0, ...over }
    const { code, issues } = await tell(await unready(), 3, { probe })
    expect({ code, issues }).toEqual({
      code: 'INVALID_INPUT',
      issues: [{ path: ['input', 'reports', '0', 'probe', field], message }],
    })
  })
})

test('a worker reads nothing of the API of users: it is told where its protocol is', async () => {
  const { errors } = await api().ask('{ hosts { nodes { name } } }', {}, worker)
  expect(errors).toEqual([
    {
      code: 'FORBIDDEN',
      message:
        'worker-1 may not use Query.hosts: it has the role worker. Use a token with the role admin. Workers speak their own protocol, at /worker.',
    },
  ])
})
