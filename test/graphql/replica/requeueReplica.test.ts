import { beforeAll, expect, test } from 'vitest'
import type { Viewer } from '../../../src/graphql/kit/context.ts'
import type { ServiceId } from '../../../src/model/id.ts'
import { place } from '../../../src/rules/placement/placement.ts'
import { readPlacement } from '../../../src/store/read/readPlacement.ts'
import { type Data, documentOf, openApi, withProfile, withService } from '../api.ts'

const api = openApi()
const worker: Viewer = { subject: 'worker', roles: ['worker'] }

/** A worker on host `node<number>`. */
const register = async (number: number): Promise<Data> => {
  const input = {
    name: `worker-${number}`,
    host: `node${number}`,
    addresses: [`10.0.0.${number}`],
    cpuMillis: 4000,
    memoryMiB: 4096,
    portRange: { from: 20_000, to: 20_100 },
    softwareVersion: '1.2.3',
    protocolVersion: 1,
    stateDirectoryId: `of worker-${number}`,
    registrationNumber: 1,
    running: [],
  }
  return (await api().worker.data(documentOf('registerWorker', 'worker epoch'), { input }, worker)).registerWorker
}

/** One run of placement. */
async function placed(): Promise<void> {
  const { app } = api()
  const { grants, holds } = place({ ...(await readPlacement(app.database)), now: app.clock.now() })
  const serviceId = [...grants, ...holds][0]?.serviceId as ServiceId
  await app.committer.submit(serviceId, { kind: 'grant', grants })
  await app.committer.submit(serviceId, { kind: 'setBlockers', blockers: holds })
}

const look = async (): Promise<Data> =>
  (
    await api().data(
      '{ service(name: "web") { blockers { reason message } replicas { nodes { id state leaving endReason endMessage host { name } ports { port } } } } }',
    )
  ).service

const requeue = async (replica: string, key?: string): Promise<Data> =>
  (
    await api().data(documentOf('requeueReplica', 'replica { id state leaving service { blockers { reason } } }'), {
      input: { replica: { id: replica }, idempotencyKey: key ?? null },
    })
  ).requeueReplica

/** The worker says that the replica runs and is ready, or that it has stopped. */
async function report(by: Data, { id: replica, ports }: Data, state: 'RUNNING' | 'ENDED', sequence = 1): Promise<void> {
  const seen = { replica, start: 1, state, ready: state === 'RUNNING', ports: ports.map(({ port }: Data) => port) }
  const reports = [state === 'ENDED' ? { ...seen, endReason: 'STOPPED' } : seen]
  const input = { worker: by.worker, epoch: by.epoch, sequence, reports }
  await api().worker.data(documentOf('reportReplicas'), { input }, worker)
}

let first: Data
beforeAll(async () => {
  first = await register(1)
  await withProfile(api(), { serviceDefaults: { rollout: { minReadySeconds: 0 } } })
  await withService(api(), 'web')
})

test('a replica moves when another host takes it, and stays where it is until then', async () => {
  const [waits] = (await look()).replicas.nodes
  expect(await requeue(waits.id)).toMatchObject({ __typename: 'InvalidStateError', path: ['input', 'replica'] })
  await placed()
  const [replica] = (await look()).replicas.nodes
  await report(first, replica, 'RUNNING')

  const answer = await requeue(replica.id, 'once')
  expect(answer).toMatchObject({
    __typename: 'RequeueReplicaPayload',
    replica: { id: replica.id, state: 'RUNNING', leaving: 'REQUEUE' },
  })
  // The answer has the real reason already, because the room on hosts was looked at first.
  expect(answer.replica.service.blockers.map(({ reason }: Data) => reason)).toEqual(['NO_HOST', 'REQUEUED'])
  expect(await requeue(replica.id, 'once')).toMatchObject({ __typename: 'RequeueReplicaPayload' })
  expect(await requeue(replica.id)).toMatchObject({ __typename: 'NoChangeError', path: ['input', 'replica'] })

  await placed()
  const alone = await look()
  expect(alone.blockers[0].message).toContain('No other host takes replicas (1 host: 1 that it is to leave).')
  expect(alone.replicas.nodes.map(({ state }: Data) => state).sort()).toEqual(['PENDING', 'RUNNING'])

  const second = await register(2)
  await placed()
  const twin = (await look()).replicas.nodes.find(({ id }: Data) => id !== replica.id)
  expect(twin).toMatchObject({ state: 'STARTING', host: { name: 'node2' } })
  await report(second, twin, 'RUNNING')
  await report(first, replica, 'ENDED', 2)
  const moved = await look()
  expect(moved.blockers).toEqual([])
  expect(moved.replicas.nodes.find(({ id }: Data) => id === replica.id)).toMatchObject({
    state: 'ENDED',
    endReason: 'REQUEUED',
    endMessage: 'It was stopped: a user moved it away from its host.',
  })
})
