import { adapterCauseOf } from './sqlError.ts'

/**
 * Why the database can't do its work now. The caller is not at fault, and it ends when somebody has mended the
 * database.
 */
export type DatabaseErrorKind = 'UNREACHABLE' | 'READ_ONLY' | 'FULL'

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const troubleOfState: Readonly<Record<string, DatabaseErrorKind>> = {
  '25006': 'READ_ONLY',
  '53100': 'FULL',
  // There are too many connections.
  '53300': 'UNREACHABLE',
  // The database was shut down, crashed, has not started yet, or was dropped.
  '57P01': 'UNREACHABLE',
  '57P02': 'UNREACHABLE',
  '57P03': 'UNREACHABLE',
  '57P04': 'UNREACHABLE',
  // A transaction that was idle for too long was cut.
  '25P03': 'UNREACHABLE',
  '25P04': 'UNREACHABLE',
}
/** Codes of Prisma's adapter. */
const unreachableKinds = ['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections']
/** Codes of Prisma itself: it got no connection, or the connection of its transaction is gone. */
const unreachableCodes = ['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2037']
const socketCodes = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
]
// The driver and its pool distinguish these only by their messages.
const connectMessages = [
  'Connection terminated due to connection timeout',
  'timeout exceeded when trying to connect',
  'timeout expired',
]
const driverMessages = [
  ...connectMessages,
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
]

/** Returns the state of the database that caused an error; null when the error has another cause. */
export function databaseErrorOf(error: unknown): DatabaseErrorKind | null {
  if (error instanceof DatabaseError) return error.trouble
  if (!(error instanceof Error)) return null
  const cause = adapterCauseOf(error)
  const state = cause?.originalCode
  if (state !== undefined && /^[0-9A-Z]{5}$/.test(state))
    return troubleOfState[state] ?? (state.startsWith('08') ? 'UNREACHABLE' : null)
  const { code } = error as { readonly code?: unknown }
  const isUnreachable =
    unreachableKinds.includes(cause?.kind ?? '') ||
    (typeof code === 'string' && (unreachableCodes.includes(code) || socketCodes.includes(code))) ||
    driverMessages.includes(error.message)
  return isUnreachable ? 'UNREACHABLE' : null
}

/** The longest time in milliseconds that a caller waits for a change while the database does not answer. */
export const patienceMillis = 10_000

const connectStates = ['53300', '57P03']
const connectKinds = ['DatabaseNotReachable', 'TooManyConnections']

/** There was no connection to send a statement on, so the change was certainly not done. */
export function isNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { originalCode = '', kind = '' } = adapterCauseOf(error) ?? {}
  return connectStates.includes(originalCode) || connectKinds.includes(kind) || connectMessages.includes(error.message)
}

/**
 * What is known of a requested change; null when no change was requested, or when it was done but could not be shown.
 */
export type Known = 'NOT_DONE' | 'UNKNOWN' | null

/** Returns a sentence for the caller that says why the database did not do the request. */
export class DatabaseError extends Error {
  override name = 'DatabaseError'
  readonly trouble: DatabaseErrorKind

  constructor(trouble: DatabaseErrorKind, known: Known, cause?: unknown) {
    super(`${sentences[trouble]}${consequence(trouble, known)}`, { cause })
    this.trouble = trouble
  }
}

/** Returns the same error, or what it means for the caller of a change that was certainly not done. */
export function notDone(error: unknown): unknown {
  const trouble = error instanceof DatabaseError ? null : databaseErrorOf(error)
  return trouble === null ? error : new DatabaseError(trouble, 'NOT_DONE', error)
}

const sentences: Readonly<Record<DatabaseErrorKind, string>> = {
  UNREACHABLE: 'The database does not answer',
  READ_ONLY: 'The database is read-only now',
  FULL: "The database's disk is full",
}

function consequence(trouble: DatabaseErrorKind, known: Known): string {
  const then =
    trouble === 'UNREACHABLE'
      ? 'try again in a moment'
      : 'reads and running replicas go on; try again when an operator has mended it'
  if (known === 'NOT_DONE') return `: nothing was changed, ${then}.`
  if (known === 'UNKNOWN')
    return ', and whether this was done is not known: look at it, or send it again with the same idempotencyKey.'
  return `: ${then}. A change may be sent again with the same idempotencyKey.`
}
