import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Logger } from 'pino'
import type { ReplicaId, WorkerId } from '../../model/id.ts'
import type { LogAnswer, LogQuestion } from '../../model/replicaLog.ts'
import type { Database } from '../../store/database/database.ts'
import { longestMessage, notify } from '../../store/database/notify.ts'
import { askingServer, requestIdOf } from './requestId.ts'

const compress = promisify(gzip)
const expand = promisify(gunzip)

/** The channel on which every server hears the requests of the others. */
const requestChannel = 'xce_log_requests'
/** The channel on which one server hears the answers to its own requests. */
const answerChannel = (server: string) => `xce_log_answers_${server}`

/** What a worker is asked. Its answer names the `id`. */
export interface LogRequest extends LogQuestion {
  readonly id: string
  readonly replica: ReplicaId
}

/** A request for a log that comes from another server; its id names that server. */
export interface RelayedRequest extends LogRequest {
  readonly workerId: WorkerId
}

/** A piece of an answer: base64 of its compressed JSON. */
interface Piece {
  readonly id: string
  /** The worker that answers. The server that asked compares it with the one that it asked. */
  readonly workerId: WorkerId
  readonly at: number
  readonly of: number
  readonly bytes: string
}

/** The bytes of an answer per message; 300 bytes are left for the piece's other fields. */
const pieceLength = longestMessage - 300

interface Heard {
  readonly onRequest: (request: RelayedRequest) => void
  readonly onAnswer: (id: string, answer: LogAnswer) => void
}

/**
 * Carries requests for logs, and their answers, between the servers on one PostgreSQL by NOTIFY, because the worker may
 * be connected to any of them. Nothing is stored: a message that is lost with a connection is an answer that does not
 * come in time.
 */
export class LogRelay {
  readonly #database: Database
  readonly #log: Logger
  readonly #newId: () => string
  readonly #server: string
  readonly #leave: (() => Promise<void>)[] = []
  /** The pieces so far of each answer that somebody waits for, and the worker that has to give it. */
  readonly #awaited = new Map<string, { readonly workerId: WorkerId; readonly pieces: Map<number, string> }>()

  constructor(options: { readonly database: Database; readonly log: Logger; readonly newId: () => string }) {
    this.#database = options.database
    this.#log = options.log
    this.#newId = options.newId
    this.#server = options.newId()
  }

  async start({ onRequest, onAnswer }: Heard): Promise<void> {
    const takeRequest = (request: RelayedRequest) => {
      if (askingServer(request.id) !== this.#server) onRequest(request)
    }
    await this.#listen<RelayedRequest>(requestChannel, takeRequest)
    await this.#listen<Piece>(answerChannel(this.#server), (piece) => this.#takePiece(piece, onAnswer))
  }

  async stop(): Promise<void> {
    for (const leave of this.#leave.splice(0)) await leave()
  }

  /** A new id for a request of this server. */
  newRequestId(): string {
    return requestIdOf(this.#server, this.#newId())
  }

  /** Asks all other servers. */
  ask(workerId: WorkerId, request: LogRequest): void {
    const relayed: RelayedRequest = { ...request, workerId }
    this.#awaited.set(request.id, { workerId, pieces: new Map() })
    this.#send(requestChannel, async () => [JSON.stringify(relayed)])
  }

  /** Drops an answer's pieces: nobody waits for it any more. */
  forget(id: string): void {
    this.#awaited.delete(id)
  }

  /** Sends an answer to the server that asked. Returns false when no other server has asked with this id. */
  answer(workerId: WorkerId, id: string, answer: LogAnswer): boolean {
    const server = askingServer(id)
    if (server === null || server === this.#server) return false
    this.#send(answerChannel(server), async () => {
      const bytes = (await compress(JSON.stringify(answer))).toString('base64')
      const of = Math.ceil(bytes.length / pieceLength)
      return Array.from({ length: of }, (_, at): string => {
        const piece: Piece = { id, workerId, at, of, bytes: bytes.slice(at * pieceLength, (at + 1) * pieceLength) }
        return JSON.stringify(piece)
      })
    })
    return true
  }

  async #listen<Message>(channel: string, onMessage: (message: Message) => void): Promise<void> {
    const onText = (text: string) => {
      try {
        onMessage(JSON.parse(text) as Message)
      } catch (error) {
        this.#log.warn({ err: error, channel }, 'A message of another server was not understood.')
      }
    }
    this.#leave.push(await this.#database.listen(channel, onText))
  }

  #send(channel: string, messages: () => Promise<readonly string[]>): void {
    messages()
      .then((made) => notify(this.#database, channel, made))
      .catch((error: unknown) =>
        this.#log.warn({ err: error }, 'A request for logs, or an answer, could not be passed to another server.'),
      )
  }

  #takePiece({ id, workerId, at, of, bytes }: Piece, onAnswer: Heard['onAnswer']): void {
    const awaited = this.#awaited.get(id)
    if (awaited?.workerId !== workerId) return
    const { pieces } = awaited
    pieces.set(at, bytes)
    if (pieces.size < of) return
    const whole = Array.from({ length: of }, (_, each) => pieces.get(each) ?? '').join('')
    expand(Buffer.from(whole, 'base64'))
      .then((text) => onAnswer(id, JSON.parse(text.toString('utf8')) as LogAnswer))
      .catch((error: unknown) => this.#log.warn({ err: error }, 'An answer to a request for logs was not whole.'))
  }
}
