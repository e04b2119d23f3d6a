import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'vitest'
import { type Frame, Subscriber } from '../../feed/subscriber.ts'
import { until } from '../fixtures/until.ts'
import { FactAudit } from '../models/audit/factAudit.ts'
import { Accidents } from './accidents.ts'
import { createService, placedReplicas } from './apiService.ts'
import { EndpointWatch } from './endpointWatch.ts'
import { HandWorker } from './handWorker.ts'
import { TestServer } from './testServer.ts'

/** Whose frames need the database to be shown, each its way. */
const documents: Readonly<Record<string, string>> = {
  service:
    '{ serviceChanged(service: { name: "web" }, bookmarks: true) { kind revision service { desiredReplicas queue { name } } } }',
  services: '{ servicesChanged { kind revision services { name desiredReplicas queue { name } } } }',
  replicas: '{ replicasChanged(service: { name: "web" }) { kind revision replicas { index state host { name } } } }',
  hosts: '{ hostsChanged { kind revision hosts { name } } }',
  events: '{ eventAdded { kind revision events { message } } }',
}

/** A server on a PostgreSQL database that gets into trouble, with a service "web" of one replica that is ready, and those who follow it. */
export class TroubleScene {
  readonly server: TestServer
  readonly worker: HandWorker
  readonly accidents: Accidents
  /** Of the endpoint of "web". */
  readonly watch: EndpointWatch
  /** Of all that `documents` tells, on one socket. */
  readonly subscriber: Subscriber
  /** The one that is there from the beginning. */
  readonly replica: string

  private constructor(
    server: TestServer,
    worker: HandWorker,
    accidents: Accidents,
    replica: string,
    subscriber: Subscriber,
  ) {
    this.server = server
    this.worker = worker
    this.accidents = accidents
    this.replica = replica
    this.watch = new EndpointWatch(server.client, 'web')
    this.subscriber = subscriber
  }

  static async start(databaseUrl: string): Promise<TroubleScene> {
    const server = await TestServer.start(undefined, mkdtempSync(path.join(tmpdir(), 'xce-test-')), {
      databaseUrl,
      bookmarkMillis: 300,
    })
    const worker = new HandWorker(server.client)
    await worker.register()
    await createService(server.client, 'web', 1)
    const [replica] = await placedReplicas(server.client, 'web', 1)
    await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: true })
    const subscriber = await Subscriber.open(server.client)
    const scene = new TroubleScene(server, worker, new Accidents(databaseUrl), replica?.id ?? '', subscriber)
    for (const [id, document] of Object.entries(documents)) subscriber.subscribe(`subscription ${document}`, {}, id)
    await until(() => Object.keys(documents).every((id) => scene.frames(id).length > 0), 'each has its SNAPSHOT')
    await scene.watch.until('the address', (table) => table.length === 1)
    return scene
  }

  /** What `/readyz` says. */
  async ready(): Promise<readonly [status: number, text: string]> {
    const response = await fetch(this.server.at('/readyz'))
    return [response.status, (await response.text()).trim()]
  }

  frames(id: string): readonly Frame[] {
    return this.subscriber.messages.flatMap((message) =>
      message.id === id && message.type === 'next' ? Object.values(message.payload?.data ?? {}) : [],
    )
  }

  /** Waits until those of "web", of services and of events have heard of everything. */
  async heardAll(): Promise<void> {
    const { tail } = this.server.app
    const isThere = (id: string) => this.frames(id).at(-1)?.revision === String(tail.head)
    await until(() => ['service', 'services', 'events'].every(isThere), 'subscribers have come to the head')
  }

  /** Nothing ended, nothing was partial, nothing began anew; the log and the tables are as they must be. */
  async expectWhole(): Promise<void> {
    const { subscriber } = this
    expect(subscriber.closed).toBeNull()
    const usual = ['next', 'connection_ack', 'ping']
    expect(subscriber.messages.filter(({ type, payload }) => !usual.includes(type) || payload?.errors)).toEqual([])
    for (const id of Object.keys(documents)) {
      const frames = this.frames(id)
      expect(frames.filter(({ kind }) => kind === 'SNAPSHOT')).toHaveLength(1)
      const revisions = frames.map(({ revision }) => BigInt(revision))
      expect(revisions).toEqual(revisions.toSorted((a, b) => (a < b ? -1 : 1)))
    }
    expect(this.watch.faults).toEqual([])
    expect(await new FactAudit(this.server.app.database).look()).toEqual([])
  }

  /** Every kind of change is refused with this code and sentence, and none is made. */
  async expectRefused(code: string, message: string): Promise<void> {
    const { server, replica } = this
    const { head } = server.app.tail
    const changes = {
      scaleService: { service: { name: 'web' }, replicas: 2 },
      deleteService: { service: { name: 'web' } },
      killReplica: { replica: { id: replica } },
      createService: { name: 'other', profile: 'web', replicas: 1 },
      applyProfile: { name: 'other', command: ['true'] },
      applyProject: { name: 'other' },
      cordonHost: { host: { name: 'hand' } },
    }
    for (const [mutation, input] of Object.entries(changes)) {
      const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`
      const document = `mutation ($input: ${type}!) { ${mutation}(input: $input) { __typename } }`
      const { data, errors } = await server.client.send(document, { input: { ...input, idempotencyKey: mutation } })
      const told = errors.map((error) => [error.message, error.extensions])
      expect([mutation, data, told]).toEqual([mutation, null, [[message, { code }]]])
    }
    expect(server.app.tail.head).toBe(head)
  }

  async stop(): Promise<void> {
    this.watch.close()
    await this.subscriber.close()
    await this.server.stop()
  }
}
