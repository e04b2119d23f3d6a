import { type Client, createClient } from 'graphql-ws/client'
import { WebSocket } from 'ws'
import type { Greeting } from '../../model/workerProtocol.ts'
import { connectFault } from './connectFault.ts'
import { readGreeting } from './greeting.ts'
import { workerUrl } from './workerUrl.ts'

/** The server refused a request. The code is from a top-level error or from the error that a mutation returned. */
export class RefusedError extends Error {
  override name = 'RefusedError'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * A socket with a time limit for the handshake, because a server may never answer, and without compression, because the
 * frames are small. The GraphQL client connects again at once after a close with the code 1000, so that code is passed on
 * as 1001 ("going away").
 */
class ServerSocket extends WebSocket {
  constructor(address: string, protocols: string) {
    super(address, protocols, { handshakeTimeout: 5_000, perMessageDeflate: false })
    this.on('error', () => undefined) // the client listens too, but an error after it has let go must not end the process
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    return event === 'close' && args[0] === 1000
      ? super.emit(event, 1001, ...args.slice(1))
      : super.emit(event, ...args)
  }
}

/** How long a server gets to answer a close before the socket is ended. */
const closeMillis = 250

/** The server to which a worker connects, and what it sends there. */
export interface ConnectTarget {
  readonly url: string
  readonly token: string
  /** The file from which the token was read, for messages. */
  readonly tokenFile: string
  /** The worker's name: a server that does not know the token logs it for its operator. */
  readonly worker: string
}

/** One socket to one server. It never reconnects; the link opens another connection. */
export class Connection {
  readonly #client: Client
  readonly #tokenFile: string
  readonly #closed: Promise<never>
  /** Rejects what waits for the server: it fails in the moment the socket does, before the client has noticed. */
  readonly #pending = new Set<(error: Error) => void>()
  #socket: WebSocket | null = null
  /** The reason why the connection has ended. */
  #ended: Error | null = null
  #greeting: Greeting | null = null
  #rejectClosed: (error: Error) => void = () => undefined

  private constructor({ url, token, tokenFile, worker }: ConnectTarget) {
    this.#tokenFile = tokenFile
    this.#closed = new Promise((_resolve, reject) => {
      this.#rejectClosed = reject
    })
    this.#closed.catch(() => undefined)
    const keep = (socket: WebSocket): void => {
      this.#socket = socket
    }
    this.#client = createClient({
      url: workerUrl(url),
      webSocketImpl: class extends ServerSocket {
        constructor(address: string, protocols: string) {
          super(address, protocols)
          keep(this)
        }
      },
      connectionParams: { authorization: `Bearer ${token}`, worker },
      connectionAckWaitTimeout: 5_000,
      lazy: false,
      retryAttempts: 0,
      onNonLazyError: (cause) => this.#endWith(new Error(connectFault(cause, tokenFile))),
    })
  }

  /** Resolves when the server has accepted the token; otherwise rejects with a sentence that says why not. */
  static async open(target: ConnectTarget, signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted()
    const connection = new Connection(target)
    const onAbort = (): void => connection.#endWith(new Error('The worker ends.'))
    signal.addEventListener('abort', onAbort)
    try {
      const connected = new Promise<unknown>((resolve) =>
        connection.#client.on('connected', (_socket, payload) => resolve(payload)),
      )
      connection.#greeting = readGreeting(await Promise.race([connection.#closed, connected]))
      return connection
    } catch (error) {
      connection.close()
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** The fields that the server sent when it accepted the token. */
  get greeting(): Greeting {
    if (this.#greeting === null) throw new Error('The connection is not open yet.')
    return this.#greeting
  }

  /** Rejects with the reason when the socket has closed. */
  get closed(): Promise<never> {
    return this.#closed
  }

  /** Sends one query or mutation. A server that does not answer in time counts as gone, so the socket is ended. */
  async request<Data>(query: string, variables: Record<string, unknown>, timeoutMillis: number): Promise<Data> {
    const timer = setTimeout(() => {
      this.#endWith(new Error(`The server did not answer within ${timeoutMillis / 1_000} s.`))
      this.#socket?.terminate()
    }, timeoutMillis)
    try {
      return await this.#subscribe<Data, Data>(query, variables, (data, resolve) => resolve(data))
    } finally {
      clearTimeout(timer)
    }
  }

  /** Follows a subscription until it ends. It never ends without an error, because a worker needs it all the time. */
  follow<Data>(query: string, variables: Record<string, unknown>, onData: (data: Data) => void): Promise<never> {
    return this.#subscribe<Data, never>(query, variables, onData)
  }

  #subscribe<Data, Result>(
    query: string,
    variables: Record<string, unknown>,
    onData: (data: Data, resolve: (result: Result) => void) => void,
  ): Promise<Result> {
    // The client would open another socket for this request.
    if (this.#ended !== null) return Promise.reject(this.#ended)
    const answered = new Promise<Result>((resolve, reject) => {
      this.#pending.add(reject)
      const settle = (result: Result): void => {
        this.#pending.delete(reject)
        resolve(result)
      }
      const fail = (error: Error): void => {
        this.#pending.delete(reject)
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
          error: (cause) =>
            fail(Array.isArray(cause) ? refusal(cause) : new Error(connectFault(cause, this.#tokenFile))),
          complete: () => fail(new Error('The server ended the operation.')),
        },
      )
    })
    return answered
  }

  #endWith(error: Error): void {
    this.#ended ??= error
    this.#rejectClosed(error)
    for (const reject of this.#pending) reject(error)
    this.#pending.clear()
  }

  close(): void {
    this.#endWith(new Error('The connection was closed by this worker.'))
    Promise.resolve(this.#client.dispose()).catch(() => undefined)
    const socket = this.#socket
    if (socket === null || socket.readyState === WebSocket.CLOSED) return
    // The server gets a moment to answer the close.
    const timer = setTimeout(() => socket.terminate(), closeMillis)
    socket.once('close', () => clearTimeout(timer))
    socket.close(1000)
  }
}

function refusal(
  errors: readonly { readonly message?: string; readonly extensions?: unknown }[] | undefined,
): RefusedError {
  const [first] = errors ?? []
  const extensions = first?.extensions
  const code =
    typeof extensions === 'object' && extensions !== null && 'code' in extensions ? String(extensions.code) : 'UNKNOWN'
  return new RefusedError(code, first?.message ?? 'The server answered neither data nor an error.')
}
