import pg from 'pg'
import { until } from '../fixtures/until.ts'

/** What operators and accidents do to a PostgreSQL database while servers use it. */
export class Accidents {
  readonly #server: URL
  readonly #name: string

  /** `url`: of the database. */
  constructor(url: string) {
    this.#server = new URL(url)
    this.#name = this.#server.pathname.slice(1)
    this.#server.pathname = '/postgres'
  }

  /** Ends every connection to it, whatever it does. Returns how many there were. */
  async killConnections(): Promise<number> {
    const { rowCount } = await this.#run(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${this.#name}'`,
    )
    return rowCount ?? 0
  }

  /** It refuses every change from now on, or takes them again; connections end, because a setting is read when one begins. */
  async setReadOnly(on: boolean): Promise<void> {
    await this.#run(
      `ALTER DATABASE "${this.#name}" ${on ? 'SET default_transaction_read_only = on' : 'RESET default_transaction_read_only'}`,
    )
    await this.killConnections()
  }

  /** Nobody reads this table until the returned function is called. */
  async lock(table: string): Promise<() => Promise<void>> {
    const client = new pg.Client({ connectionString: new URL(`/${this.#name}`, this.#server).href })
    await client.connect()
    await client.query(`BEGIN; LOCK TABLE "${table}" IN ACCESS EXCLUSIVE MODE`)
    return () => client.end()
  }

  /** Waits until a connection waits for a lock, and ends all that do. Returns how many. */
  async killWhoWaits(): Promise<number> {
    return until(async () => {
      const waiting = `datname = '${this.#name}' AND wait_event_type = 'Lock'`
      const { rowCount } = await this.#run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${waiting}`)
      return rowCount === 0 ? null : rowCount
    }, 'somebody waits for a lock')
  }

  async #run(sql: string): Promise<pg.QueryResult> {
    const client = new pg.Client({ connectionString: this.#server.href })
    await client.connect()
    try {
      return await client.query(sql)
    } finally {
      await client.end()
    }
  }
}
