import pg from 'pg'
import type { Logger } from 'pino'
import { DatabaseError } from './databaseErrors.ts'

export type OnMessage = (payload: string) => void
/** Called after a break, in which notifications were lost. */
export type OnReconnect = () => void

interface Subscription {
  readonly channel: string
  readonly onMessage: OnMessage
  readonly onReconnect: OnReconnect
}

/** The channels with their listeners, for either kind of database. */
export class Subscriptions {
  readonly #all = new Set<Subscription>()

  get channels(): Set<string> {
    return new Set([...this.#all].map(({ channel }) => channel))
  }

  add(subscription: Subscription): () => void {
    this.#all.add(subscription)
    return () => this.#all.delete(subscription)
  }

  deliver(channel: string, payload: string): void {
    for (const subscription of this.#all) if (subscription.channel === channel) subscription.onMessage(payload)
  }

  reconnected(): void {
    for (const subscription of this.#all) subscription.onReconnect()
  }
}

const heartbeatMillis = 5_000
const firstWaitMillis = 50
const longestWaitMillis = 5_000

/**
 * Runs LISTEN on a connection of its own, which is made again whenever it breaks. A heartbeat finds a connection that
 * died without a word; it reads no data.
 */
export class Listener {
  readonly #connectionString: string
  readonly #subscriptions: Subscriptions
  readonly #log: Logger
  #client: pg.Client | null = null
  #closed = false
  #waitMillis = firstWaitMillis
  #retry: NodeJS.Timeout | null = null
  #heartbeat: NodeJS.Timeout | null = null

  constructor(connectionString: string, subscriptions: Subscriptions, log: Logger) {
    this.#connectionString = connectionString
    this.#subscriptions = subscriptions
    this.#log = log
  }

  async start(): Promise<void> {
    await this.#connect()
  }

  async listen(channel: string): Promise<void> {
    // Without a connection now, the next connection listens to all channels.
    await this.#client
      ?.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
      .catch((error: unknown) => this.#dropConnection(error))
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#retry) clearTimeout(this.#retry)
    if (this.#heartbeat) clearInterval(this.#heartbeat)
    const client = this.#client
    this.#client = null
    client?.removeAllListeners('end')
    await client?.end().catch(() => undefined)
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#connectionString,
      application_name: 'xce-services listener',
      keepAlive: true,
      connectionTimeoutMillis: heartbeatMillis,
      query_timeout: heartbeatMillis,
    })
    client.on('notification', ({ channel, payload }) => this.#subscriptions.deliver(channel, payload ?? ''))
    client.on('error', (error) => this.#dropConnection(error, client))
    client.on('end', () => this.#dropConnection(new Error('the connection ended'), client))
    try {
      await client.connect()
      for (const channel of this.#subscriptions.channels) await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
    } catch (error) {
      // It may be connected without having answered yet, so the next connection must wait for its end.
      client.end().catch(() => undefined)
      throw error
    }
    if (this.#closed) {
      await client.end()
      return
    }
    this.#client = client
    this.#waitMillis = firstWaitMillis
    this.#heartbeat = setInterval(() => {
      client.query('SELECT 1').catch((error: unknown) => this.#dropConnection(error, client))
    }, heartbeatMillis)
  }

  #dropConnection(error: unknown, client: pg.Client | null = this.#client): void {
    if (this.#closed || client === null || client !== this.#client) return
    this.#client = null
    if (this.#heartbeat) clearInterval(this.#heartbeat)
    this.#log.warn(
      { err: new DatabaseError('UNREACHABLE', null, error) },
      'The connection that listens to the database broke; connecting again.',
    )
    client.end().catch(() => undefined)
    this.#reconnectLater()
  }

  #reconnectLater(): void {
    this.#retry = setTimeout(() => {
      this.#connect().then(
        () => this.#subscriptions.reconnected(),
        () => {
          this.#waitMillis = Math.min(longestWaitMillis, this.#waitMillis * 2)
          if (!this.#closed) this.#reconnectLater()
        },
      )
    }, this.#waitMillis)
  }
}
