import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../../src/store/database/database.ts'
import type { Rng } from '../feed/rng.ts'
import type { Caller } from './caller.ts'
import type { Tally } from './tally.ts'

const after = { cordonHost: 'CORDONED', drainHost: 'DRAINING', uncordonHost: 'OPEN' } as const
const kinds = { cordonHost: 'cordon', drainHost: 'drain', uncordonHost: 'uncordon' } as const

/** Cordons, drains and uncordons hosts, and holds the database to each answer. At least half of the hosts stay open. */
export class HostOperator {
  readonly #hosts: readonly string[]
  readonly #caller: Caller
  readonly #database: Database
  readonly #rng: Rng
  readonly #tally: Tally
  readonly #scheduling = new Map<string, string>()

  constructor(hosts: readonly string[], caller: Caller, database: Database, rng: Rng, tally: Tally) {
    this.#hosts = hosts
    this.#caller = caller
    this.#database = database
    this.#rng = rng
    this.#tally = tally
  }

  async run(signal: AbortSignal, mostMillis: number): Promise<void> {
    while (!signal.aborted) {
      await wait(this.#rng.below(mostMillis), undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      const closed = this.#hosts.filter((host) => this.#isClosed(host))
      const host = this.#rng.of(closed.length * 2 >= this.#hosts.length ? closed : this.#hosts)
      const kind = this.#isClosed(host)
        ? this.#rng.of(['uncordonHost', 'uncordonHost', 'drainHost'] as const)
        : undefined
      await this.#act(host, kind ?? this.#rng.of(['cordonHost', 'drainHost'] as const))
      await this.verify()
    }
  }

  /** Opens all. */
  async settle(): Promise<void> {
    for (const host of this.#hosts) if (this.#isClosed(host)) await this.#act(host, 'uncordonHost')
    await this.verify()
  }

  async verify(): Promise<void> {
    const rows = await this.#database.prisma.host.findMany({ select: { name: true, scheduling: true } })
    for (const { name, scheduling } of rows) {
      const should = this.#scheduling.get(name) ?? 'OPEN'
      if (scheduling === should) continue
      this.#tally.lost++
      this.#tally.fault(`Host ${name}: it was acknowledged that it is ${should}, and it is ${scheduling}.`)
    }
  }

  #isClosed(host: string): boolean {
    return (this.#scheduling.get(host) ?? 'OPEN') !== 'OPEN'
  }

  async #act(host: string, mutation: keyof typeof after): Promise<void> {
    const kind = `${kinds[mutation]} a host`
    const { code } = await this.#caller.mutate({
      kind,
      mutation,
      input: { host: { name: host } },
      fields: 'host { id }',
    })
    if (code === null) this.#scheduling.set(host, after[mutation])
    else if (code !== 'NO_CHANGE') this.#tally.fault(`${kind} ${host} was refused with ${code}.`)
  }
}
