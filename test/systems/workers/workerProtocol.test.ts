import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeGlobalId, idOf } from '../../../src/graphql/kit/globalId.ts'
import { createToken } from '../../../src/store/access/tokens.ts'
import type { LogRequest } from '../../../src/worker/link/api.ts'
import { ApiClient } from '../../support/drivers/apiClient.ts'
import {
  aliveReplicas,
  change,
  createService,
  placedReplicas,
  remove,
  scale,
} from '../../support/drivers/apiService.ts'
import { HandWorker } from '../../support/drivers/handWorker.ts'
import { TestServer } from '../../support/drivers/testServer.ts'
import { logAnswer, printed } from '../../support/fixtures/logAnswers.ts'
import { until } from '../../support/fixtures/until.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

const assignmentsChanged = `subscription ($worker: ID!, $epoch: Int!) { assignmentsChanged(worker: $worker, epoch: $epoch) {
  kind last removed logRequests { id replica stream start since tailLines maxBytes after waitSeconds }
  assignments { replica goal service project index versionNumber command env { name value } ports { name port } stop { signal } }
} }`

interface Assigned {
  readonly replica: string
  readonly goal: string
}

interface Change {
  readonly assignmentsChanged: {
    readonly kind: string
    readonly assignments: readonly Assigned[]
    readonly removed: readonly string[]
    readonly logRequests: readonly LogRequest[]
  }
}

function follow(worker: HandWorker) {
  return server.client.worker
    .socket()
    .iterate<Change>({ query: assignmentsChanged, variables: { worker: worker.id, epoch: worker.epoch } })
}

describe('a registration', () => {
  test('raises the epoch, and fences the one before', async () => {
    const worker = new HandWorker(server.client, 'again')
    await worker.register()
    const old = { id: worker.id, epoch: worker.epoch }
    await worker.register()
    expect(worker).toMatchObject({ id: old.id, epoch: old.epoch + 1 })
    worker.epoch = old.epoch
    expect(await worker.report()).toMatchObject({ __typename: 'FencedError', code: 'FENCED' })
    const frames = follow(worker)
    expect((await frames.next()).value?.errors).toMatchObject([{ extensions: { code: 'FENCED' } }])
  })

  test('ends the assignments of the one before with FENCED, while they are followed', async () => {
    const worker = new HandWorker(server.client, 'followed')
    await worker.register()
    const frames = follow(worker)
    expect((await frames.next()).value?.data?.assignmentsChanged.kind).toBe('SNAPSHOT')
    await worker.register()
    expect((await frames.next()).value?.errors).toMatchObject([{ extensions: { code: 'FENCED' } }])
  })

  test('adopts what still runs, untouched; what the worker lost is replaced; what is not its own it is told to stop', async () => {
    const worker = new HandWorker(server.client, 'adopts')
    await cordonOthers('adopts')
    await worker.register()
    await createService(server.client, 'adopted', 2)
    const [kept, lost] = await placedReplicas(server.client, 'adopted', 2)
    await worker.report(
      { replica: kept?.id ?? '', state: 'RUNNING', ready: true },
      { replica: lost?.id ?? '', state: 'RUNNING', ready: true },
    )
    const stranger = 'Replica_01890a5d-ac96-774b-bcce-b302099a8057'
    const answer = await worker.register([
      { replica: kept?.id ?? '', state: 'RUNNING', ready: true },
      { replica: stranger, state: 'RUNNING', ready: true },
      { replica: 'nonsense', state: 'RUNNING' },
    ])
    expect(answer.stop.toSorted()).toEqual([stranger, 'nonsense'].toSorted())
    const after = await placedReplicas(server.client, 'adopted', 2)
    expect(after[0]).toMatchObject({ id: kept?.id, ready: true, start: 1 })
    expect(after[1]?.id).not.toBe(lost?.id)
    await remove(server.client, 'adopted')
    await worker.report(...(await aliveReplicas(server.client, 'adopted')).map(ended))
  })

  test('a message that no database could hold, or that is cut in the middle of a character, is taken all the same', async () => {
    const worker = new HandWorker(server.client, 'talkative')
    await cordonOthers('talkative')
    await worker.register()
    await createService(server.client, 'talkative', 1)
    const [replica] = await placedReplicas(server.client, 'talkative', 1)
    const gaveUp = {
      replica: replica?.id ?? '',
      state: 'ENDED',
      endReason: 'GAVE_UP',
      message: `\0${'x'.repeat(998)}😀`,
    } as const
    expect(await worker.report(gaveUp)).toMatchObject({ __typename: 'ReportReplicasPayload' })
    await remove(server.client, 'talkative')
    await worker.report(...(await aliveReplicas(server.client, 'talkative')).map(ended))
  })

  test('the same registration again changes no replica and no table', async () => {
    const worker = new HandWorker(server.client, 'steady')
    await cordonOthers('steady')
    await worker.register()
    await createService(server.client, 'steady', 1)
    const [replica] = await placedReplicas(server.client, 'steady', 1)
    const running = { replica: replica?.id ?? '', state: 'RUNNING', ready: true } as const
    await worker.report(running)
    const query = `{
      service(name: "steady") { readyReplicas availableReplicas replicas { nodes { id state start readySince startedAt } } events { nodes { message } } }
      endpoint(service: { name: "steady" }) { addresses { id } }
    }`
    const before = await server.client.ask(query)
    expect(before).toMatchObject({ service: { readyReplicas: 1 } })
    await worker.register([running])
    expect(await server.client.ask(query)).toEqual(before)
    await remove(server.client, 'steady')
    await worker.report(ended({ id: replica?.id ?? '' }))
  })

  test('is refused with everything that is wrong at once', async () => {
    const worker = new HandWorker(server.client, 'wrong')
    const query = `mutation ($input: RegisterWorkerInput!) { registerWorker(input: $input) { ... on InvalidInputError { issues { path } } } }`
    const input = {
      name: '',
      host: 'a b',
      addresses: ['http://x'],
      cpuMillis: 0,
      memoryMiB: -1,
      portRange: { from: 0, to: 70_000 },
      reservedPorts: [0],
      softwareVersion: '\u0000',
      protocolVersion: 99,
      running: [],
      stateDirectoryId: '',
      registrationNumber: 0,
    }
    const { registerWorker } = await server.client.worker.ask<{ registerWorker: { issues: { path: string[] }[] } }>(
      query,
      {
        input,
      },
    )
    expect(registerWorker.issues.map(({ path }) => path.join('.')).sort()).toEqual([
      'input.addresses.0',
      'input.cpuMillis',
      'input.host',
      'input.memoryMiB',
      'input.name',
      'input.portRange.from',
      'input.portRange.to',
      'input.protocolVersion',
      'input.registrationNumber',
      'input.reservedPorts.0',
      'input.softwareVersion',
      'input.stateDirectoryId',
    ])
    expect(worker.id).toBe('')
  })

  test('that a later one of its state directory has overtaken is told the newest number, and fences nobody', async () => {
    const worker = new HandWorker(server.client, 'numbered')
    await worker.register([], { stateDirectoryId: 'of numbered', registrationNumber: 7 })
    const query = `mutation ($input: RegisterWorkerInput!) { registerWorker(input: $input) { ... on OvertakenError { code message newest } } }`
    const offer = {
      name: 'numbered',
      host: 'numbered',
      addresses: [],
      cpuMillis: 1,
      memoryMiB: 1,
      portRange: { from: 1, to: 2 },
      running: [],
    }
    const input = {
      ...offer,
      softwareVersion: 'test',
      protocolVersion: 1,
      stateDirectoryId: 'of numbered',
      registrationNumber: 6,
    }
    expect(await server.client.worker.ask(query, { input })).toEqual({
      registerWorker: {
        code: 'OVERTAKEN',
        message:
          'Registration 6 of worker numbered comes late, or from an old copy of its state directory, of which number 7 was taken already: register with a number above that.',
        newest: 7,
      },
    })
    expect(await worker.report()).toMatchObject({ __typename: 'ReportReplicasPayload' })
  })

  test('of another worker under the name of a live one is refused, whatever it says of its state directory: the live one goes on, and is alone with its assignments', async () => {
    const token = await createToken(server.app.database, { subject: 'workers', roles: ['worker'] })
    const client = new ApiClient(server.url, token)
    const worker = new HandWorker(client, 'alive', server.client)
    await cordonOthers('alive')
    await worker.register([], { stateDirectoryId: 'hard to guess' })
    const secret = 'the-secret-of-alive'
    await createService(server.client, 'alive', 1, { env: [{ name: 'KEY', value: secret, secret: true }] })
    const [replica] = await placedReplicas(server.client, 'alive', 1)
    await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: true })
    const frames = follow(worker)
    expect(JSON.stringify((await frames.next()).value)).toContain(secret)
    const { epoch, id } = worker
    const { prisma } = server.app.database
    // What of it only a registration changes: the lease of a live worker goes on, and with it when it was seen last.
    const rowOf = () =>
      prisma.worker.findUniqueOrThrow({
        where: { name: 'alive' },
        select: {
          id: true,
          epoch: true,
          stateDirectoryId: true,
          registrationNumber: true,
          registeredAt: true,
          hostId: true,
        },
      })
    const before = await rowOf()

    const offer = {
      ...{ name: 'alive', host: 'alive', addresses: ['10.6.6.6'], cpuMillis: 64_000, memoryMiB: 65_536 },
      ...{ portRange: { from: 20_000, to: 29_999 }, softwareVersion: 'test', protocolVersion: 1 },
      registrationNumber: 1_000_000,
    }
    const query = `mutation ($input: RegisterWorkerInput!) { registerWorker(input: $input) {
      __typename ... on RegisterWorkerPayload { worker epoch } ... on Error { code message } ... on InvalidInputError { issues { path message } }
    } }`
    const ran = [{ replica: replica?.id ?? '', start: 1, state: 'RUNNING', ready: true, ports: [] }]
    // The same token, with and without the replicas that it would take over.
    for (const by of [client.worker, server.client.worker])
      for (const running of [[], ran]) {
        const refusalOf = async (said: Record<string, unknown>) => {
          const { data, errors } = await by.send<{
            registerWorker: { __typename: string; issues?: { path: string[]; message: string }[] }
          }>(query, { input: { ...offer, running, ...said } })
          return data === null ? errors.map(({ message }) => message) : data.registerWorker.issues
        }
        // What gives no state directory, or no number, is no registration: it does not come as far as to the name.
        for (const said of [{}, { stateDirectoryId: null }])
          expect(await refusalOf(said)).toEqual([expect.stringContaining('"String!"')])
        expect(await refusalOf({ stateDirectoryId: 'hard to guess', registrationNumber: null })).toEqual([
          expect.stringContaining('"Int!"'),
        ])
        const taken = {
          path: ['input', 'name'],
          message: expect.stringMatching(
            /^A worker named alive is registered already, with another state directory, on host alive: give this one another XCE_WORKER_NAME\. .* are over, at 20[-\d]+T[\d:.]+Z, or earlier by confirmHostLoss of alive\.$/,
          ),
        }
        for (const stateDirectoryId of ['another', 'alive', ' ', 'hard to guess ', 'HARD TO GUESS'])
          expect(await refusalOf({ stateDirectoryId })).toEqual([taken])
        expect(await refusalOf({ stateDirectoryId: 'another', registrationNumber: 2_000_000_000 })).toEqual([taken])
        const empty = '"" is no id of a state directory: use 1 to 100 printable ASCII characters.'
        expect(await refusalOf({ stateDirectoryId: '' })).toEqual([
          { path: ['input', 'stateDirectoryId'], message: empty },
        ])
      }

    expect(await rowOf()).toEqual(before)
    expect(before).toMatchObject({ epoch })
    expect(await worker.renew()).toMatchObject({ __typename: 'RenewLeasePayload', resync: false })
    // Its stream goes on, under its epoch: the next frame is of its replica, which has not ended before.
    expect((await aliveReplicas(server.client, 'alive')).map((seen) => seen.id)).toEqual([replica?.id])
    await remove(server.client, 'alive')
    const { value } = await frames.next()
    expect(value?.data?.assignmentsChanged.assignments).toMatchObject([{ replica: replica?.id, goal: 'STOP' }])
    await frames.return?.()
    expect(worker).toMatchObject({ id, epoch })
    expect(await worker.report(ended({ id: replica?.id ?? '' }))).toMatchObject({ fenced: [] })
  })

  test('belongs to its token: another worker’s may neither take the name nor speak for it', async () => {
    const clientOf = async (subject: string) =>
      new ApiClient(server.url, await createToken(server.app.database, { subject, roles: ['worker'] }))
    const mine = new HandWorker(await clientOf('mine'), 'owned')
    await mine.register()
    const other = new HandWorker(await clientOf('other'), 'owned')
    expect(await other.register()).toMatchObject({ __typename: 'ForbiddenError' })
    Object.assign(other, { id: mine.id, epoch: mine.epoch })
    expect(await other.report()).toMatchObject({ __typename: 'ForbiddenError' })
    expect(await mine.report()).toMatchObject({ __typename: 'ReportReplicasPayload' })
  })
})

describe('a drain by the worker itself', () => {
  const drainWorker =
    'mutation ($input: DrainWorkerInput!) { result: drainWorker(input: $input) { __typename ... on Error { code } } }'
  const workerDrain = `query ($worker: ID!, $epoch: Int!, $services: [ServiceKey!]!) { workerDrain(worker: $worker, epoch: $epoch, services: $services) {
    draining replicas services { project name desiredReplicas readyReplicas blockers }
  } }`

  test('is of its own host, with the token that registered it; it tells how far its services are', async () => {
    const token = await createToken(server.app.database, { subject: 'drains', roles: ['worker'] })
    const client = new ApiClient(server.url, token)
    const worker = new HandWorker(client, 'drains', server.client)
    await cordonOthers('drains')
    await worker.register()
    await createService(server.client, 'drained', 1)
    const [placed] = await placedReplicas(server.client, 'drained', 1)
    await worker.report({ replica: placed?.id ?? '', state: 'RUNNING', ready: true })
    const claim = { worker: worker.id, epoch: worker.epoch }
    const services = [{ name: 'drained' }, { name: 'nonsense\0' }, { project: 'elsewhere', name: 'drained' }]
    const look = () => client.worker.ask<{ workerDrain: Record<string, unknown> }>(workerDrain, { ...claim, services })
    const drained = { project: 'default', name: 'drained', desiredReplicas: 1, readyReplicas: 1, blockers: [] }
    expect((await look()).workerDrain).toEqual({ draining: false, replicas: 1, services: [drained] })
    for (let times = 0; times < 2; times++) {
      expect(await client.worker.ask(drainWorker, { input: claim })).toEqual({
        result: { __typename: 'DrainWorkerPayload' },
      })
    }
    // It has nowhere to go, and the blocker says so.
    await until(async () => {
      const { services: seen } = (await look()).workerDrain as { services: { blockers: string[] }[] }
      return seen[0]?.blockers.some((sentence) => sentence.includes('drain'))
    }, 'its service says what it waits for')
    expect((await look()).workerDrain).toMatchObject({ draining: true, replicas: 1 })
    expect(await client.worker.ask(drainWorker, { input: { ...claim, epoch: 0 } })).toMatchObject({
      result: { code: 'FENCED' },
    })
    expect((await client.worker.send(workerDrain, { ...claim, epoch: 0, services })).errors).toMatchObject([
      { extensions: { code: 'FENCED' } },
    ])
    const other = new ApiClient(
      server.url,
      await createToken(server.app.database, { subject: 'not-drains', roles: ['worker'] }),
    )
    expect(await other.worker.ask(drainWorker, { input: claim })).toMatchObject({ result: { code: 'FORBIDDEN' } })
    await remove(server.client, 'drained')
    await worker.report(...(await aliveReplicas(server.client, 'drained')).map(ended))
  })
})

describe('the end of a worker, by its own word', () => {
  const endWorker =
    'mutation ($input: EndWorkerInput!) { result: endWorker(input: $input) { __typename ... on EndWorkerPayload { worker } ... on Error { code } } }'

  test('is known at once: its host waits for no lease, what it ran is replaced, and it can register again', async () => {
    const token = await createToken(server.app.database, { subject: 'ends', roles: ['worker'] })
    const client = new ApiClient(server.url, token)
    const worker = new HandWorker(client, 'ends', server.client)
    await cordonOthers('ends')
    await worker.register()
    await createService(server.client, 'outlives', 1)
    const [placed] = await placedReplicas(server.client, 'outlives', 1)
    await worker.report({ replica: placed?.id ?? '', state: 'RUNNING', ready: true })
    const claim = { worker: worker.id, epoch: worker.epoch }
    expect(await client.worker.ask(endWorker, { input: { ...claim, epoch: 0 } })).toMatchObject({
      result: { code: 'FENCED' },
    })
    expect(await client.worker.ask(endWorker, { input: claim })).toEqual({
      result: { __typename: 'EndWorkerPayload', worker: worker.id },
    })
    expect(await server.client.ask('{ host(name: "ends") { reachability reason } }')).toEqual({
      host: {
        reachability: 'ENDED',
        reason:
          'The worker has ended, after everything that it ran. The host takes replicas when a worker starts there.',
      },
    })
    const shown = `query ($reachability: Reachability!) {
      hosts(filter: { reachabilities: [$reachability] }) { nodes { name workers { reachability } } } }`
    expect(await server.client.ask(shown, { reachability: 'ENDED' })).toEqual({
      hosts: { nodes: [{ name: 'ends', workers: [{ reachability: 'ENDED' }] }] },
    })
    const lost = await server.client.ask<{ hosts: { nodes: { name: string }[] } }>(shown, { reachability: 'LOST' })
    expect(lost.hosts.nodes.map(({ name }) => name)).not.toContain('ends')
    // Its registration is over.
    expect(await client.worker.ask(endWorker, { input: claim })).toMatchObject({ result: { code: 'FENCED' } })
    await worker.register()
    await until(async () => {
      const alive = await placedReplicas(server.client, 'outlives', 1)
      return alive.some(({ id }) => id !== placed?.id)
    }, 'it has another replica')
    await remove(server.client, 'outlives')
    await worker.report(...(await aliveReplicas(server.client, 'outlives')).map(ended))
  })
})

describe('several workers on one host', () => {
  const workersOf = async (host: string) => {
    const query =
      'query ($host: String!) { host(name: $host) { reachability cpuMillis usedCpuMillis workers { name reachability draining reason } } }'
    return (await server.client.ask<{ host: { workers: readonly object[] } }>(query, { host })).host
  }

  test('each follows its own assignments and is asked for its own logs; what one loses is replaced on the other, and its ports wait for it', async () => {
    const a = new HandWorker(server.client, 'job-a')
    const b = new HandWorker(server.client, 'job-b')
    await cordonOthers('shared')
    const room = { host: 'shared', cpuMillis: 30 }
    for (const [worker, stateDirectoryId] of [[a, 'one'] as const, [b, 'two'] as const])
      await worker.register([], { ...room, stateDirectoryId })
    await createService(server.client, 'shared', 4)
    const placed = await placedReplicas(server.client, 'shared', 4)
    const frames = { a: follow(a), b: follow(b) }
    const first = async (own: typeof frames.a) =>
      (await own.next()).value?.data?.assignmentsChanged.assignments.map((assigned: Assigned) => assigned.replica) ?? []
    const [onA, onB] = [await first(frames.a), await first(frames.b)]
    expect([...onA, ...onB].sort()).toEqual(placed.map(({ id }) => id).sort())
    expect([onA.length, onB.length]).toEqual([2, 2])
    const run = (worker: HandWorker, ids: readonly string[]) =>
      worker.report(...ids.map((replica) => ({ replica, state: 'RUNNING', ready: true }) as const))
    expect([await run(a, onA), await run(b, onB)]).toMatchObject([{ fenced: [] }, { fenced: [] }])
    // What the other one runs is none of its business.
    expect(await run(a, onB)).toMatchObject({ fenced: onB })

    const log =
      'query ($id: ID!) { node(id: $id) { ... on Replica { worker { name } } } replicaLog(replica: { id: $id }) { lines { text } } }'
    const reading = server.client.ask(log, { id: onB[0] })
    const { id: request } = await until(
      async () => (await frames.b.next()).value?.data?.assignmentsChanged.logRequests[0],
      'b is asked',
    )
    const answer =
      'mutation ($input: AnswerLogRequestInput!) { answerLogRequest(input: $input) { ... on AnswerLogRequestPayload { accepted } } }'
    const said = (worker: HandWorker) => ({
      input: {
        worker: worker.id,
        epoch: worker.epoch,
        request,
        ...printed('b'),
      },
    })
    expect(await server.client.worker.ask(answer, said(a))).toEqual({ answerLogRequest: { accepted: false } })
    expect(await server.client.worker.ask(answer, said(b))).toEqual({ answerLogRequest: { accepted: true } })
    expect(await reading).toEqual({
      node: { worker: { name: 'job-b' } },
      replicaLog: { lines: [{ text: 'b' }] },
    })

    const { prisma } = server.app.database
    await prisma.worker.update({ where: { name: 'job-b' }, data: { reachability: 'UNREACHABLE' } })
    await prisma.host.update({ where: { name: 'shared' }, data: { allocation: { increment: 1 } } })
    await change(server.client, 'confirmHostLoss', 'ConfirmHostLossInput', { host: { name: 'shared' } })
    expect(await b.renew()).toMatchObject({ code: 'FENCED' })
    expect(await a.renew()).toMatchObject({ __typename: 'RenewLeasePayload' })
    await until(
      async () => (await aliveReplicas(server.client, 'shared')).filter(({ ready }) => ready).length === 2,
      'those of b are lost',
    )
    expect(await workersOf('shared')).toEqual({
      ...{ reachability: 'REACHABLE', cpuMillis: 30 },
      usedCpuMillis: expect.any(Number),
      workers: [
        { name: 'job-a', reachability: 'REACHABLE', draining: false, reason: null },
        {
          name: 'job-b',
          reachability: 'LOST',
          draining: false,
          reason: expect.stringContaining('confirmed that it is lost'),
        },
      ],
    })
    // One of the two finds room at a; the other one waits.
    const portOf = async (ids: readonly string[]) =>
      (await prisma.replica.findMany({ where: { id: { in: ids.map((id) => idOf('Replica', id) ?? '') } } })).flatMap(
        ({ ports }) => ports.map(({ port }) => port),
      )
    const now = await until(async () => {
      const alive = await aliveReplicas(server.client, 'shared')
      return alive.filter(({ host }) => host !== null).length === 3 ? alive : null
    }, 'three are placed')
    const kept = await portOf(onB)
    expect((await portOf(now.map(({ id }) => id))).filter((port) => kept.includes(port))).toEqual([])

    await change(server.client, 'removeWorker', 'RemoveWorkerInput', { worker: { name: 'job-b' } })
    expect((await workersOf('shared')).workers).toHaveLength(1)
    expect(await prisma.hostPort.count({ where: { lostWorkerId: { not: null } } })).toBe(0)
    expect(await b.register([], { ...room, stateDirectoryId: 'two' })).toMatchObject({
      __typename: 'RegisterWorkerPayload',
    })
    await placedReplicas(server.client, 'shared', 4)
    await remove(server.client, 'shared')
    const left = await prisma.replica.findMany({ where: { state: { not: 'ENDED' }, service: { name: 'shared' } } })
    for (const worker of [a, b]) {
      const own = left.filter(({ workerId }) => workerId === idOf('Worker', worker.id))
      await worker.report(...own.map(({ id }) => ended({ id: encodeGlobalId('Replica', id) })))
    }
    for (const own of Object.values(frames)) await own.return?.()
  })

  test('a name is one worker’s: another state directory is refused, the same one is a restart', async () => {
    const worker = new HandWorker(server.client, 'named')
    await worker.register([], { stateDirectoryId: 'of named' })
    const other = new HandWorker(server.client, 'named')
    expect(await other.register([], { host: 'named-elsewhere', stateDirectoryId: 'of another' })).toMatchObject({
      code: 'INVALID_INPUT',
    })
    expect(await worker.renew()).toMatchObject({ __typename: 'RenewLeasePayload' })
    expect(await worker.register([], { stateDirectoryId: 'of named' })).toMatchObject({
      epoch: worker.epoch,
      __typename: 'RegisterWorkerPayload',
    })
    // A worker that was given another name is the same one by its state directory.
    expect(
      await new HandWorker(server.client, 'renamed').register([], { host: 'named', stateDirectoryId: 'of named' }),
    ).toMatchObject({
      __typename: 'RegisterWorkerPayload',
    })
  })
})

describe('a lease', () => {
  const renew = `mutation ($input: RenewLeaseInput!) { renewLease(input: $input) {
    __typename ... on RenewLeasePayload { resync } ... on Error { code }
  } }`

  test('goes on from the database’s clock, also where it was over; an old epoch is FENCED', async () => {
    const worker = new HandWorker(server.client, 'leased')
    await worker.register()
    const input = { worker: worker.id, epoch: worker.epoch }
    const { prisma } = server.app.database
    await prisma.worker.updateMany({ where: { name: 'leased' }, data: { leaseUntil: new Date(0) } })
    expect(await server.client.worker.ask(renew, { input })).toEqual({
      renewLease: { __typename: 'RenewLeasePayload', resync: false },
    })
    const row = await prisma.worker.findFirstOrThrow({ where: { name: 'leased' } })
    expect(row.leaseUntil.getTime()).toBeGreaterThan(server.app.clock.now())
    expect(await server.client.worker.ask(renew, { input: { ...input, epoch: 0 } })).toMatchObject({
      renewLease: { code: 'FENCED' },
    })
  })
})

test('a worker whose row is of a restored backup is asked for everything until it has told it', async () => {
  const worker = new HandWorker(server.client, 'restored')
  await worker.register()
  const { prisma } = server.app.database
  const restore = () => prisma.worker.update({ where: { name: 'restored' }, data: { restored: true } })
  await restore()
  for (const report of [() => worker.renew(), () => worker.report(), () => worker.reportAll()]) {
    expect(await worker.renew()).toMatchObject({ resync: true })
    await report()
  }
  expect(await worker.renew()).toMatchObject({ resync: false })
  await restore()
  await worker.register()
  expect(await worker.renew()).toMatchObject({ resync: false })
})

describe('reports', () => {
  test('of replicas that are not this worker’s are answered as fenced, and change nothing', async () => {
    const worker = new HandWorker(server.client, 'reporter')
    await worker.register()
    const stranger = 'Replica_01890a5d-ac96-774b-bcce-b302099a8057'
    expect(await worker.report({ replica: stranger, state: 'RUNNING' })).toMatchObject({ fenced: [stranger] })
  })

  test('a PORT_TAKEN that is told again after the replica was placed anew on the same host counts once', async () => {
    const worker = new HandWorker(server.client, 'taken')
    await cordonOthers('taken')
    await worker.register()
    await createService(server.client, 'taken', 1)
    const [placed] = await placedReplicas(server.client, 'taken', 1)
    const row = () =>
      server.app.database.prisma.replica.findUniqueOrThrow({ where: { id: idOf('Replica', placed?.id ?? '') ?? '' } })
    const portsOf = async () => (await row()).ports.map(({ port }) => port)
    const before = await portsOf()
    const said = { replica: placed?.id ?? '', state: 'ENDED', endReason: 'PORT_TAKEN', ports: before } as const
    await worker.report(said)
    await until(
      async () => (await row()).hostId !== null && (await portsOf()).join() !== before.join(),
      'it is placed anew',
    )
    expect(await worker.report(said)).toMatchObject({ __typename: 'ReportReplicasPayload', fenced: [] })
    expect(await row()).toMatchObject({ state: 'STARTING', portConflicts: 1 })
    await remove(server.client, 'taken')
    await worker.report(...(await aliveReplicas(server.client, 'taken')).map(ended))
  })

  test('a fixed port that something else used is watched, and given at once when its worker sees it free', async () => {
    const worker = new HandWorker(server.client, 'watching')
    await cordonOthers('watching')
    await worker.register()
    const ports = [{ name: 'http', port: 8_080 }, { name: 'admin' }]
    await createService(server.client, 'watched', 1, { ports })
    const [first] = await placedReplicas(server.client, 'watched', 1)
    const takenPorts = ['http', 'admin']
    const answer = await worker.report({
      replica: first?.id ?? '',
      state: 'ENDED',
      endReason: 'PORT_TAKEN',
      takenPorts,
    })
    const watched = {
      port: 8_080,
      protocol: 'TCP',
      seconds: expect.toSatisfy((left: number) => left > 50 && left <= 60),
    }
    expect(answer.portsToWatch).toEqual([watched])
    // Another worker of the host, or the same one after a restart, watches it too.
    expect((await worker.register()).portsToWatch).toEqual([watched])
    expect((await worker.report()).portsToWatch).toBeNull()
    expect(await aliveReplicas(server.client, 'watched')).toMatchObject([{ host: null }])
    expect(await worker.reportFreePorts({ port: 8_081, protocol: 'TCP' })).toMatchObject({ changed: false })
    expect(await worker.reportFreePorts({ port: 8_080, protocol: 'TCP' })).toMatchObject({ changed: true })
    await placedReplicas(server.client, 'watched', 1)
    expect(await worker.reportFreePorts({ port: 8_080, protocol: 'TCP' })).toMatchObject({ changed: false })
    expect(await worker.reportFreePorts()).toMatchObject({ __typename: 'InvalidInputError' })
    await remove(server.client, 'watched')
    await worker.report(...(await aliveReplicas(server.client, 'watched')).map(ended))
  })

  test('with a start or a number that can’t be are refused, and nothing of them is taken', async () => {
    const worker = new HandWorker(server.client, 'bounded')
    await worker.register()
    const issues = (type: string, mutation: string, input: Record<string, unknown>) =>
      server.client.worker.ask(
        `mutation ($input: ${type}!) { result: ${mutation}(input: $input) { __typename ... on InvalidInputError { issues { path message } } } }`,
        { input },
      )
    const claim = { worker: worker.id, epoch: worker.epoch }
    const running = { replica: 'Replica_01890a5d-ac96-774b-bcce-b302099a8057', state: 'RUNNING', ready: true }
    const reports = [
      { ...running, start: 1, ports: [] },
      { ...running, start: 0, ports: [] },
    ]
    expect(await issues('ReportReplicasInput', 'reportReplicas', { ...claim, sequence: 0, reports })).toEqual({
      result: {
        __typename: 'InvalidInputError',
        issues: [
          {
            path: ['input', 'sequence'],
            message: 'sequence is 0: the first message of a registration is 1, and each later one has a higher number.',
          },
          { path: ['input', 'reports', '1', 'start'], message: 'start is 0: the first one is 1.' },
        ],
      },
    })
    expect(await worker.register([{ ...running, state: 'RUNNING', start: -1 }])).toMatchObject({
      __typename: 'InvalidInputError',
    })
    expect(await worker.report()).toMatchObject({ __typename: 'ReportReplicasPayload' })
  })
})

describe('assignments', () => {
  test('a SNAPSHOT of what the host has, then what is placed, what is to stop and what has gone', async () => {
    const worker = new HandWorker(server.client, 'assigned')
    await cordonOthers('assigned')
    await worker.register()
    await createService(server.client, 'first', 1)
    const [first] = await placedReplicas(server.client, 'first', 1)
    const frames = follow(worker)
    expect((await frames.next()).value?.data?.assignmentsChanged).toMatchObject({
      kind: 'SNAPSHOT',
      last: true,
      assignments: [
        {
          replica: first?.id,
          goal: 'RUN',
          service: 'first',
          project: 'default',
          index: 0,
          versionNumber: 1,
          command: ['sleep', '1000'],
        },
      ],
    })
    await scale(server.client, 'first', 0)
    expect(await nextAbout(frames, first?.id ?? '')).toMatchObject({ goal: 'STOP' })
    await worker.report(ended({ id: first?.id ?? '' }))
    await until(async () => {
      const { value } = await frames.next()
      return value?.data?.assignmentsChanged.removed.includes(first?.id ?? '')
    }, 'the replica is removed')
    await frames.return?.()
  })

  test('requests for logs come with them; the answer is what the reader gets', async () => {
    const worker = new HandWorker(server.client, 'logs')
    await cordonOthers('logs')
    await worker.register()
    await createService(server.client, 'logged', 1)
    const [replica] = await placedReplicas(server.client, 'logged', 1)
    const frames = follow(worker)
    await frames.next()
    const query = `query ($id: ID!) {
      replicaLog(replica: { id: $id }, start: 2, stream: STDERR, since: "2026-01-31T12:00:00Z", tailLines: 7, maxBytes: 99) {
        truncated position lines { stream at start text cut } starts { start at }
      }
    }`
    const reading = server.client.ask(query, { id: replica?.id })
    const request = await until(
      async () => (await frames.next()).value?.data?.assignmentsChanged.logRequests[0],
      'a log request comes',
    )
    expect(request).toEqual({
      id: request.id,
      replica: replica?.id,
      ...{ stream: 'STDERR', start: 2, since: '2026-01-31T12:00:00.000Z', tailLines: 7, maxBytes: 99 },
      ...{ after: null, waitSeconds: 0 },
    })
    const at = '1970-01-01T00:00:01.000Z'
    const input = {
      worker: worker.id,
      epoch: worker.epoch,
      request: request.id,
      ...logAnswer({ truncated: true, position: 'here' }),
      runs: [
        { stream: 'STDERR', at, start: 1, lines: ['a', 'b'], cut: true },
        { stream: 'STDOUT', at: null, start: null, lines: ['c'], cut: false },
      ],
      starts: [{ start: 1, at }],
    }
    const answer =
      'mutation ($input: AnswerLogRequestInput!) { answerLogRequest(input: $input) { ... on AnswerLogRequestPayload { accepted } } }'
    expect(await server.client.worker.ask(answer, { input })).toEqual({ answerLogRequest: { accepted: true } })
    expect(await reading).toEqual({
      replicaLog: {
        truncated: true,
        position: 'here',
        lines: [
          { stream: 'STDERR', at, start: 1, text: 'a', cut: false },
          { stream: 'STDERR', at, start: 1, text: 'b', cut: true },
          { stream: 'STDOUT', at: null, start: null, text: 'c', cut: false },
        ],
        starts: [{ start: 1, at }],
      },
    })
    expect(await server.client.worker.ask(answer, { input })).toEqual({ answerLogRequest: { accepted: false } })
    await frames.return?.()
    await expect(server.client.ask(query, { id: replica?.id })).rejects.toThrow('did not answer within 5 s')
  })

  test('nothing is left of those who followed', () =>
    until(() => server.app.feed.topics === 0, 'the feed has no topic'))
})

function ended({ id }: { readonly id: string }) {
  return { replica: id, state: 'ENDED', endReason: 'STOPPED' } as const
}

/** Placement takes only the host that is named; there is no mutation for it yet. */
async function cordonOthers(name: string): Promise<void> {
  await server.app.database.prisma.host.updateMany({
    where: { name: { not: name } },
    data: { scheduling: 'CORDONED', allocation: { increment: 1 } },
  })
}

async function nextAbout(frames: ReturnType<typeof follow>, replica: string) {
  return until(async () => {
    const { value } = await frames.next()
    return value?.data?.assignmentsChanged.assignments.find((assignment: Assigned) => assignment.replica === replica)
  }, 'a frame about the replica')
}
