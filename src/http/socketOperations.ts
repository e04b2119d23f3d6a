import { CloseCode } from 'graphql-ws'
import type { WebSocket } from 'ws'
import type { maskError } from './maskError.ts'

/** An operation that has begun and not yet ended on our side. */
interface Operation {
  /** The client has completed it, or the protocol has written its last message: its id is free again by the protocol. */
  isOver: boolean
  /** The client's message that begins the next operation of this id. */
  next: string | null
}

export interface SocketOperationsOptions {
  readonly socket: WebSocket
  /** Hands a message to the protocol. Of `subscribe` it resolves when that operation has ended. */
  readonly handle: (data: string) => Promise<void>
  /** Makes an error that the client may see. */
  readonly mask: (error: unknown) => ReturnType<typeof maskError>
}

/**
 * The operations of one WebSocket by their ids. graphql-ws keeps an operation's state by its id only, and forgets it when the client completes
 * the operation, though that may run on for a while. A new operation of the same id, which the protocol allows at once, would then lose its
 * state to the old one, or get the old one's answer. So a new operation waits here until the old one of its id has ended.
 *
 * An error that an operation throws ends that operation, and not the socket with all the others.
 */
export class SocketOperations {
  readonly #options: SocketOperationsOptions
  readonly #operations = new Map<string, Operation>()

  constructor(options: SocketOperationsOptions) {
    this.#options = options
  }

  /** Takes a message of the client. Rejects with errors that belong to no operation. */
  async take(data: string): Promise<void> {
    const { type, id } = readMessage(data)
    if (id === null) return this.#options.handle(data)
    if (type === 'subscribe') return this.#beginOrQueue(id, data)
    if (type === 'complete') return this.#complete(id, data)
    return this.#options.handle(data)
  }

  /** The protocol is about to write the last message of an operation: the client may use its id again as soon as it has read that. */
  markOver(id: string): void {
    const operation = this.#operations.get(id)
    if (operation !== undefined) operation.isOver = true
  }

  async #beginOrQueue(id: string, data: string): Promise<void> {
    const before = this.#operations.get(id)
    if (before === undefined) return this.#begin(id, data)
    if (before.isOver && before.next === null) before.next = data
    else this.#options.socket.close(CloseCode.SubscriberAlreadyExists, 'An operation with this id is going on.')
  }

  async #begin(id: string, data: string): Promise<void> {
    const { socket, handle, mask } = this.#options
    const operation: Operation = { isOver: false, next: null }
    this.#operations.set(id, operation)
    try {
      await handle(data)
    } catch (error) {
      const payload = [mask(error).toJSON()]
      if (!operation.isOver) socket.send(JSON.stringify({ id, type: 'error', payload }))
    }
    this.#operations.delete(id)
    // Nobody would end what begins on a socket that is closed.
    if (operation.next !== null && socket.readyState === socket.OPEN) void this.#begin(id, operation.next)
  }

  async #complete(id: string, data: string): Promise<void> {
    const operation = this.#operations.get(id)
    if (operation !== undefined) {
      operation.isOver = true
      operation.next = null
    }
    try {
      await this.#options.handle(data)
    } catch (error) {
      // The client has done with the operation: this only writes the error to the log.
      this.#options.mask(error)
    }
  }
}

/** The type of a message and the operation that it is about. The protocol itself refuses what is no message. */
function readMessage(data: string): { readonly type: unknown; readonly id: string | null } {
  try {
    const { type, id } = JSON.parse(data) as { readonly type?: unknown; readonly id?: unknown }
    return { type, id: typeof id === 'string' ? id : null }
  } catch {
    return { type: null, id: null }
  }
}
