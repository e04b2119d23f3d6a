import type { Limit } from '../../../src/model/settings.ts'

/**
 * A second telling of R1–R4, R7 and R11, as plainly as it goes: every rule filters and sorts all replicas anew. Far too slow for the product;
 * tests compare the two.
 */
export interface ModelReplica {
  readonly id: number
  /** Instant of the commit that made it: equal for all of one commit. */
  readonly createdAt: number
  index: number
  readonly version: number
  state: 'PENDING' | 'STARTING' | 'RUNNING'
  ready: boolean
  available: boolean
  leaving: boolean
  stopping: boolean
  readonly twinOf: number | null
}

export class RollingModel {
  desired: number
  readonly surge: Limit
  readonly unavailable: Limit
  target = 1
  paused = false
  /** By version number: versions with equal content have equal values. */
  readonly contents = new Map([[1, 1]])
  replicas: ModelReplica[] = []
  #nextId = 1
  #commit = 1
  #rowsLeft = Number.POSITIVE_INFINITY
  /** A row was wanted that the cap did not give: the commit ends. */
  #cut = false

  constructor(desired: number, surge: Limit, unavailable: Limit) {
    this.desired = desired
    this.surge = surge
    this.unavailable = unavailable
  }

  get s(): number {
    return 'count' in this.surge ? this.surge.count : Math.ceil((this.surge.percent * this.desired) / 100)
  }

  get u(): number {
    const u =
      'count' in this.unavailable ? this.unavailable.count : Math.floor((this.unavailable.percent * this.desired) / 100)
    return Math.min(this.desired, this.s === 0 && u === 0 ? 1 : u)
  }

  active(): ModelReplica[] {
    return this.replicas.filter((r) => !r.stopping)
  }

  current(r: ModelReplica): boolean {
    return this.contents.get(r.version) === this.contents.get(this.target)
  }

  outdated(r: ModelReplica): boolean {
    return r.leaving || !this.current(r)
  }

  /** One commit. True: the cap left something for another one. */
  settle(rows: number, grownFrom: number | null): boolean {
    this.#commit++
    this.#rowsLeft = rows
    this.#cut = false
    if (grownFrom !== null && grownFrom > 0 && this.desired > grownFrom) this.#grow()
    for (let round = 0; !this.#cut && this.#round(); round++) {
      if (round > 60) throw new Error('The rules do not come to rest.')
    }
    for (const r of this.active()) {
      if (r.index >= newIndex) r.index = this.#freeIndex()
    }
    return this.#cut
  }

  /** It ended by itself: a wanted slot is kept by a new row of its version and index. */
  end(r: ModelReplica): void {
    this.replicas = this.replicas.filter((other) => other !== r)
    if (r.stopping) return
    this.#commit++
    this.#add(this.outdated(r) ? r.version : this.target, r.twinOf)
    const row = this.replicas.at(-1)
    if (row !== undefined) row.index = r.index
  }

  #round(): boolean {
    const active = this.active()
    const old = active.filter((r) => this.outdated(r))
    const fresh = active.filter((r) => !this.outdated(r))
    const { desired: n, s, u, paused } = this

    const ceiling = n === 0 ? 0 : old.length > 0 ? n + s : n
    if (active.length > ceiling) return this.#stopAll(active.sort(victims).slice(0, active.length - ceiling), false)
    if (fresh.length > n) return this.#stopAll(fresh.sort(victims).slice(0, fresh.length - n), false)

    const steps = old.filter((r) => r.leaving || !paused)
    const stay = old.filter((r) => !steps.includes(r))
    const budget =
      active.length - (n - u) - fresh.filter((r) => !r.available).length - stay.filter((r) => !r.available).length
    const idle = steps.filter((r) => !r.available).sort(rollingOrder)
    const serving = steps.filter((r) => r.available).sort(rollingOrder)
    const picked: ModelReplica[] = []
    let available = active.filter((r) => r.available).length
    while (picked.length < budget && idle.length > 0) picked.push(idle.shift() as ModelReplica)
    while (picked.length < budget && serving.length > 0 && available > n - u) {
      picked.push(serving.shift() as ModelReplica)
      available--
    }
    if (picked.length > 0) return this.#stopAll(picked, paused)

    if (!paused) {
      const wanted = Math.min(n + s - active.length, n - fresh.length)
      for (let i = 0; i < wanted; i++) this.#start(this.target, null)
      return wanted > 0
    }
    const leaving = [...idleFirst(active.filter((r) => r.leaving))]
    let wanted = Math.min(n + s - active.length, n - (active.length - leaving.length))
    if (wanted <= 0) return false
    for (const r of leaving) if (wanted > 0 && !this.#hasTwin(r)) wanted -= this.#start(this.#likeOf(r), r.id)
    for (const r of leaving) if (wanted > 0) wanted -= this.#start(this.#likeOf(r), null)
    while (wanted > 0) wanted -= this.#start(this.target, null)
    return true
  }

  #grow(): void {
    const active = this.active()
    const room = this.desired + this.s - active.length
    if (room <= 0 || !active.some((r) => this.outdated(r))) return
    const seats = Math.min(room, this.#rowsLeft)
    if (seats < room) this.#cut = true
    const sizes = new Map<number, number>()
    for (const r of active) sizes.set(this.#likeOf(r), (sizes.get(this.#likeOf(r)) ?? 0) + 1)
    const shares = new Map([...sizes].map(([version, size]) => [version, Math.floor((seats * size) / active.length)]))
    const order = [...sizes.keys()].sort((a, b) => {
      const rest = (version: number) => (seats * (sizes.get(version) ?? 0)) % active.length
      return rest(b) - rest(a) || b - a
    })
    let given = [...shares.values()].reduce((sum, share) => sum + share, 0)
    for (const version of order) {
      if (given++ < seats) shares.set(version, (shares.get(version) ?? 0) + 1)
    }
    for (const [version, share] of [...shares].sort(([a], [b]) => a - b)) {
      for (let i = 0; i < share; i++) this.#start(version, null)
    }
  }

  #stopAll(victims: readonly ModelReplica[], twins: boolean): true {
    for (const r of victims) {
      if (this.#cut) break
      const staying = this.active().filter((other) => !other.leaving).length
      const twin = twins && staying < this.desired && !this.#hasTwin(r)
      if (this.#rowsLeft < (twin ? 2 : 1)) {
        this.#cut = true
        break
      }
      this.#rowsLeft--
      if (r.state === 'PENDING') this.replicas = this.replicas.filter((other) => other !== r)
      else r.stopping = true
      if (twin) this.#start(this.#likeOf(r), r.id)
    }
    return true
  }

  #hasTwin(r: ModelReplica): boolean {
    return this.active().some((other) => other.twinOf === r.id)
  }

  #likeOf(r: ModelReplica): number {
    return this.current(r) ? this.target : r.version
  }

  #start(version: number, twinOf: number | null): 1 {
    if (this.#rowsLeft <= 0) this.#cut = true
    else {
      this.#rowsLeft--
      this.#add(version, twinOf)
    }
    return 1
  }

  #add(version: number, twinOf: number | null): void {
    const id = this.#nextId++
    this.replicas.push({
      id,
      createdAt: this.#commit,
      index: newIndex + id,
      version,
      state: 'PENDING',
      ready: false,
      available: false,
      leaving: false,
      stopping: false,
      twinOf,
    })
  }

  #freeIndex(): number {
    const taken = this.active().map((r) => r.index)
    let index = 0
    while (taken.includes(index)) index++
    return index
  }
}

const newIndex = 1_000_000

function loss(r: ModelReplica): number {
  return r.available ? 4 : r.ready ? 3 : ['PENDING', 'STARTING', 'RUNNING'].indexOf(r.state)
}

function victims(a: ModelReplica, b: ModelReplica): number {
  return loss(a) - loss(b) || b.createdAt - a.createdAt || b.index - a.index
}

function rollingOrder(a: ModelReplica, b: ModelReplica): number {
  const process = (r: ModelReplica) => (r.state === 'PENDING' ? 0 : 1)
  const goes = (r: ModelReplica) => (r.leaving ? 0 : 1)
  return process(a) - process(b) || goes(a) - goes(b) || a.version - b.version || victims(a, b)
}

function idleFirst(replicas: readonly ModelReplica[]): ModelReplica[] {
  return [
    ...replicas.filter((r) => !r.available).sort(rollingOrder),
    ...replicas.filter((r) => r.available).sort(rollingOrder),
  ]
}
