import { type Client, createClient } from 'graphql-ws/client'
import { WebSocket } from 'ws'
import type { Greeting } from '../../model/workerProtocol.ts'
import { connectFault } from './connectFault.ts'

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
    return event === 'close' && args[0] === 1000
      ? super.emit(event, 1001, ...args.slice(1))
      : super.emit(event, ...args)
  }
}

const goodbyeMillis = 250

/** Where a worker connects to, and what it shows there. */
export interface ConnectTarget {
  readonly url: string
  readonly token: string
  /** Where the token is from. */
  readonly tokenFile: string
  /** The worker's name: a server that does not know the token tells its operator whose it was. */
  readonly worker: string
}

/** One socket to one server. It never reconnects: whoever opened it opens another. */
export class Connection {
  readonly #client: Client
  readonly #tokenFile: string
  readonly #closed: Promise<never>
  /** Of requests and subscriptions that wait: they fail in the moment the socket does, not when the client has noticed. */
  readonly #waiting = new Set<(error: Error) => void>()
  #socket: WebSocket | null = null
  /** Why it has ended. */
  #ended: Error | null = null
  #greeting: Partial<Greeting> = {}
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
      url: url.replace(/^http/, 'ws'),
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
      onNonLazyError: (cause) => this.#fail(new Error(connectFault(cause, tokenFile))),
    })
  }

  /** Resolves when the server has accepted the token; rejects with a sentence that says why not. */
  static async open(target: ConnectTarget, signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted()
    const connection = new Connection(target)
    const onAbort = (): void => connection.#fail(new Error('The worker ends.'))
    signal.addEventListener('abort', onAbort)
    try {
      const connected = new Promise<unknown>((resolve) =>
        connection.#client.on('connected', (_socket, payload) => resolve(payload)),
      )
      connection.#greeting = greetingIn(await Promise.race([connection.#closed, connected]))
      return connection
    } catch (error) {
      connection.close()
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** What the server said of itself when it took the token; what a server of another release did not say is left out. */
  get greeting(): Partial<Greeting> {
    return this.#greeting
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
    // The client would open another socket for it.
    if (this.#ended !== null) return Promise.reject(this.#ended)
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
          error: (cause) =>
            fail(Array.isArray(cause) ? refusal(cause) : new Error(connectFault(cause, this.#tokenFile))),
          complete: () => fail(new Error('The server ended the operation.')),
        },
      )
    })
    return answered
  }

  #fail(error: Error): void {
    this.#ended ??= error
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

/** Only what is as it should be. */
function greetingIn(payload: unknown): Partial<Greeting> {
  const { workerProtocol, workerLease, registrationNumbers } = (payload ?? {}) as {
    [Key in keyof Greeting]?: Partial<Greeting[Key]>
  }
  const { oldest, newest } = workerProtocol ?? {}
  const { leaseSeconds, graceSeconds } = workerLease ?? {}
  return {
    ...(typeof oldest === 'number' && typeof newest === 'number' ? { workerProtocol: { oldest, newest } } : {}),
    ...(isSeconds(leaseSeconds) && isSeconds(graceSeconds) ? { workerLease: { leaseSeconds, graceSeconds } } : {}),
    ...(registrationNumbers === true ? { registrationNumbers } : {}),
  }
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && value > 0
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
