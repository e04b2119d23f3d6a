import { type Client, createClient } from 'graphql-ws/client'
import { WebSocket } from 'ws'
import type { ProtocolRange } from '../model/workerProtocol.ts'

/** The server said no, by one of the codes of its top-level errors or of a failure that it answered. */
export class RefusedError extends Error {
  override name = 'RefusedError'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * A server that does not answer must fail by itself, and frames here are too small to be worth compressing. A close with the code 1000 would
 * make the GraphQL client connect again by itself, and without a pause: it is given as 1001 ("going away").
 */
class ServerSocket extends WebSocket {
  constructor(address: string, protocols: string) {
    super(address, protocols, { handshakeTimeout: 5_000, perMessageDeflate: false })
    this.on('error', () => undefined) // the client hears it too; one that comes after it has let go must not end the process
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    return event === 'close' && args[0] === 1000 ? super.emit(event, 1001, ...args.slice(1)) : super.emit(event, ...args)
  }
}

const goodbyeMillis = 250

/** One socket to one server. It never reconnects: whoever opened it opens another. */
export class Connection {
  readonly #client: Client
  readonly #closed: Promise<never>
  /** Of requests and subscriptions that wait: they fail in the moment the socket does, not when the client has noticed. */
  readonly #waiting = new Set<(error: Error) => void>()
  #socket: WebSocket | null = null
  #serverProtocols: ProtocolRange | null = null
  #rejectClosed: (error: Error) => void = () => undefined

  private constructor(url: string, token: string) {
    this.#closed = new Promise((_resolve, reject) => {
      this.#rejectClosed = reject
    })
    this.#closed.catch(() => undefined)
    const keep = (socket: WebSocket): void => {
      this.#socket = socket
    }
    this.#client = createClient({
      url: url.replace(/^http/, 'ws'),
      webSocketImpl: class extends ServerSocket {
        constructor(address: string, protocols: string) {
          super(address, protocols)
          keep(this)
        }
      },
      connectionParams: { authorization: `Bearer ${token}` },
      connectionAckWaitTimeout: 5_000,
      lazy: false,
      retryAttempts: 0,
      onNonLazyError: (cause) => this.#fail(closeError(cause)),
    })
  }

  /** Resolves when the server has accepted the token; rejects with a sentence that says why not. */
  static async open(url: string, token: string, signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted()
    const connection = new Connection(url, token)
    const onAbort = (): void => connection.#fail(new Error('The worker ends.'))
    signal.addEventListener('abort', onAbort)
    try {
      const connected = new Promise<unknown>((resolve) => connection.#client.on('connected', (_socket, payload) => resolve(payload)))
      connection.#serverProtocols = protocolsIn(await Promise.race([connection.#closed, connected]))
      return connection
    } catch (error) {
      connection.close()
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** The versions of the worker's protocol that the server takes; null: it did not say. */
  get serverProtocols(): ProtocolRange | null {
    return this.#serverProtocols
  }

  /** Rejects when the socket has closed, with why. */
  get closed(): Promise<never> {
    return this.#closed
  }

  /** One query or mutation. A server that does not answer in time counts as gone: the socket is ended. */
  async request<Data>(query: string, variables: Record<string, unknown>, timeoutMillis: number): Promise<Data> {
    const timer = setTimeout(() => {
      this.#fail(new Error(`The server did not answer within ${timeoutMillis / 1_000} s.`))
      this.#socket?.terminate()
    }, timeoutMillis)
    try {
      return await this.#subscribe<Data, Data>(query, variables, (data, resolve) => resolve(data))
    } finally {
      clearTimeout(timer)
    }
  }

  /** Follows a subscription until it ends, which is always an error: there is none that ends well. */
  follow<Data>(query: string, variables: Record<string, unknown>, onData: (data: Data) => void): Promise<never> {
    return this.#subscribe<Data, never>(query, variables, onData)
  }

  #subscribe<Data, Result>(
    query: string,
    variables: Record<string, unknown>,
    onData: (data: Data, resolve: (result: Result) => void) => void,
  ): Promise<Result> {
    const answered = new Promise<Result>((resolve, reject) => {
      this.#waiting.add(reject)
      const settle = (result: Result): void => {
        this.#waiting.delete(reject)
        resolve(result)
      }
      const fail = (error: Error): void => {
        this.#waiting.delete(reject)
        reject(error)
      }
      this.#client.subscribe<Data>(
        { query, variables },
        {
          next: ({ data, errors }) => {
            if (data == null || errors !== undefined) return fail(refusal(errors))
            try {
              onData(data, settle)
            } catch (error) {
              fail(error instanceof Error ? error : new Error(String(error)))
            }
          },
          error: (cause) => fail(Array.isArray(cause) ? refusal(cause) : closeError(cause)),
          complete: () => fail(new Error('The server ended the operation.')),
        },
      )
    })
    return answered
  }

  #fail(error: Error): void {
    this.#rejectClosed(error)
    for (const reject of this.#waiting) reject(error)
    this.#waiting.clear()
  }

  close(): void {
    this.#fail(new Error('The connection was closed by this worker.'))
    Promise.resolve(this.#client.dispose()).catch(() => undefined)
    const socket = this.#socket
    if (socket === null || socket.readyState === WebSocket.CLOSED) return
    // Said goodbye, the server gets a moment to say so too.
    const timer = setTimeout(() => socket.terminate(), goodbyeMillis)
    socket.once('close', () => clearTimeout(timer))
    socket.close(1000)
  }
}

/** Of what the server said when it took the token. */
function protocolsIn(payload: unknown): ProtocolRange | null {
  const { workerProtocol } = (payload ?? {}) as { workerProtocol?: Partial<ProtocolRange> }
  const { oldest, newest } = workerProtocol ?? {}
  return typeof oldest === 'number' && typeof newest === 'number' ? { oldest, newest } : null
}

function refusal(errors: readonly { readonly message?: string; readonly extensions?: unknown }[] | undefined): RefusedError {
  const [first] = errors ?? []
  const extensions = first?.extensions
  const code = typeof extensions === 'object' && extensions !== null && 'code' in extensions ? String(extensions.code) : 'UNKNOWN'
  return new RefusedError(code, first?.message ?? 'The server answered neither data nor an error.')
}

/** What the socket's end means, as a sentence. */
function closeError(cause: unknown): Error {
  if (typeof cause !== 'object' || cause === null) return new Error(`The connection failed: ${String(cause)}.`)
  if ('code' in cause && typeof cause.code === 'number') {
    const reason = 'reason' in cause && typeof cause.reason === 'string' && cause.reason !== '' ? ` ${cause.reason}` : ''
    return new Error(`The server closed the connection (${cause.code}${reason}).`)
  }
  if ('message' in cause && typeof cause.message === 'string') return new Error(`The connection failed: ${cause.message}.`)
  return new Error('The connection failed.')
}
