import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareAddresses, type EndpointAddress } from '../../src/model/endpoint.ts'
import type { HostId, WorkerId } from '../../src/model/id.ts'
import type { ServiceIntent } from '../../src/model/intent.ts'
import { isOn } from '../../src/model/replica.ts'
import type { HostView, Replica, ServiceSnapshot } from '../../src/model/service.ts'
import { addressesOf } from '../../src/rules/endpoint/endpoint.ts'
import { hasPublished } from '../../src/rules/endpoint/hostAddresses.ts'
import { Scene } from '../support/drivers/scene.ts'
import { check } from '../support/drivers/serviceStore.ts'
import { grantOf, hostId, reportOf } from '../support/fixtures/services.ts'

// Hosts get other addresses before their services hear of it, servers load a service in between or have it in their caches, and some die before
// they have told it: at every commit the table that facts add up to is the one that a new subscriber reads (R12).

const places = [1, 2].flatMap((host) =>
  ['a', 'b'].map((name) => ({ hostId: hostId(host), workerId: `worker-${host}${name}` as WorkerId })),
)
type Place = (typeof places)[number]

const kinds = [
  'register',
  'adopt',
  'adoptLate',
  'load',
  'settleOne',
  'place',
  'ready',
  'notReady',
  'portTaken',
  'end',
  'scale',
  'unreach',
] as const
const steps = fc.array(fc.tuple(fc.constantFrom(...kinds), fc.nat({ max: 1_000 })), { minLength: 5, maxLength: 60 })

class Life {
  readonly scene = new Scene({ replicas: 4 })
  /** As registrations have them. */
  readonly hosts = new Map<HostId, HostView>()
  /** As a server has read them that is slow. */
  #late: HostView
  #epoch = 1
  #sequence = 0
  #port = 20_000

  constructor() {
    for (const id of [hostId(1), hostId(2)])
      this.hosts.set(id, { id, name: `node of ${id}`, addresses: [`first of ${id}`] })
    this.#late = this.#view(hostId(1))
  }

  step(kind: (typeof kinds)[number], pick: number): void {
    const place = places[pick % places.length] as Place
    const { scene } = this
    const own = this.#rowsOn(place)
    switch (kind) {
      case 'register': {
        const host = this.#view(place.hostId)
        this.#late = host
        this.hosts.set(host.id, { ...host, addresses: pick % 5 === 0 ? [] : [`${pick % 3} of ${host.id}`] })
        break
      }
      case 'adopt':
        this.#adopt(place, this.#view(place.hostId), own)
        break
      case 'adoptLate':
        if (this.#late.id === place.hostId) this.#adopt(place, this.#late, own)
        break
      case 'load':
        scene.store.snapshot = this.loaded()
        break
      case 'settleOne':
        this.#settle(1)
        break
      case 'place':
        this.#place(place)
        break
      case 'ready':
        this.#report(place, own, () => ({}))
        break
      case 'notReady':
        this.#report(place, own, () => ({ ready: false }))
        break
      case 'portTaken':
        this.#report(place, own.slice(0, 1), () => ({ state: 'ENDED', ready: false, endReason: 'PORT_TAKEN' }))
        break
      case 'end':
        this.#report(place, own.slice(0, 1), () => ({ state: 'ENDED', ready: false, endReason: 'EXITED' }))
        break
      case 'scale':
        this.#commit({ kind: 'scale', replicas: pick % 7, expectedRevision: null, actor: 'alice' })
        break
      case 'unreach':
        this.#commit({ kind: 'unreach', worker: place.workerId })
        break
    }
  }

  /** Whoever looks next tells what was not told; then there is nothing left to tell. */
  settle(): void {
    this.#settle(Number.POSITIVE_INFINITY)
    check(this.#untold().length === 0, 'everything is told')
    for (const address of this.scene.store.table.values()) {
      const host = [...this.hosts.values()].find(({ name }) => name === address.host)
      check(isDeepStrictEqual(address.addresses, host?.addresses), 'an address is where its host is')
    }
  }

  /** As another server would load it. */
  loaded(): ServiceSnapshot {
    const { store } = this.scene
    const ids = new Set(store.alive.flatMap((row) => (row.hostId === null ? [] : [row.hostId])))
    return { ...store.loaded(), hosts: new Map([...ids].sort().map((id) => [id, this.#view(id)])) }
  }

  #view(id: HostId): HostView {
    const host = this.hosts.get(id)
    if (host === undefined) throw new Error(`There is no host ${id}.`)
    return host
  }

  #rowsOn({ workerId }: Place): Replica[] {
    return this.scene.store.alive.filter((row) => isOn(row, workerId))
  }

  #untold() {
    return places.flatMap(({ hostId: id, workerId: worker }) => {
      const host = this.#view(id)
      return this.#rowsOn({ hostId: id, workerId: worker }).some((row) => !hasPublished(row, host))
        ? [{ kind: 'hostAddresses', worker, host } as const]
        : []
    })
  }

  #settle(most: number): void {
    for (const intent of this.#untold().slice(0, most)) this.#commit(intent)
  }

  #adopt(place: Place, host: HostView, own: readonly Replica[]): void {
    const running = own.filter(({ startedAt }) => startedAt !== null).map((row) => reportOf(row))
    this.#commit({ kind: 'adopt', reporter: { ...place, epoch: ++this.#epoch }, host, running })
  }

  #place(place: Place): void {
    const { name, addresses } = this.#view(place.hostId)
    const waiting = this.scene.store.alive.filter((row) => row.state === 'PENDING' && row.notBefore === null)
    const grants = waiting.slice(0, 2).map((row) => {
      const port = this.#port++
      return grantOf(row.id, {
        ...place,
        hostName: name,
        hostAddresses: addresses,
        ports: [{ name: 'http', port, protocol: 'TCP' }],
        lastPort: port,
      })
    })
    this.#commit({ kind: 'grant', grants })
  }

  #report(place: Place, rows: readonly Replica[], over: () => Parameters<typeof reportOf>[1]): void {
    const reports = rows.map((row) => reportOf(row, over()))
    this.#commit({ kind: 'report', reporter: { ...place, epoch: this.#epoch }, sequence: ++this.#sequence, reports })
  }

  #commit(intent: ServiceIntent): void {
    const { store } = this.scene
    const before = new Map(store.table)
    for (const { facts } of this.scene.whole(intent)) {
      for (const fact of facts) {
        if (fact.kind !== 'change') continue
        for (const address of fact.data.replaced) {
          check(isDeepStrictEqual(before.get(address.id), address), 'what is replaced is as it was told')
        }
        for (const id of fact.data.removed) before.delete(id)
        for (const address of fact.data.upserted) before.set(address.id, address)
      }
    }
    const read = (snapshot: ServiceSnapshot) =>
      [...snapshot.replicas.values()]
        .flatMap((row): EndpointAddress[] =>
          addressesOf(row, row.hostId === null ? null : (snapshot.hosts.get(row.hostId) ?? null)),
        )
        .sort(compareAddresses)
    const table = [...store.table.values()].sort(compareAddresses)
    check(isDeepStrictEqual(read(this.loaded()), table), 'a new subscriber reads what the facts have told')
    check(isDeepStrictEqual(read(store.snapshot), table), 'so does the server that has the service in its cache')
  }
}

test('whatever becomes of the addresses of hosts, a new subscriber reads what the facts have told, and in the end that is where the replicas are', () => {
  fc.assert(
    fc.property(steps, (told) => {
      const life = new Life()
      life.step('place', 0)
      life.step('ready', 0)
      for (const [kind, pick] of told) life.step(kind, pick)
      life.settle()
      expect(life.loaded().replicas.size).toBe(life.scene.store.alive.length)
    }),
    { numRuns: Number(process.env['XCE_PROPERTY_RUNS'] ?? 500) },
  )
}, 120_000)
