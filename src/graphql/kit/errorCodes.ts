import type { RefusalCode } from '../../model/refusal.ts'
import { idempotencyKeyHours } from '../../model/retention.ts'
import type { DatabaseErrorKind } from '../../store/database/databaseErrors.ts'

/** Codes of errors that are not members of any result union. */
export type RequestErrorCode =
  | 'BAD_USER_INPUT'
  | 'BAD_REQUEST'
  | 'GRAPHQL_PARSE_FAILED'
  | 'GRAPHQL_VALIDATION_FAILED'
  | 'OPERATION_RESOLUTION_FAILURE'
  | 'STREAM_FORBIDDEN'
  | 'STREAM_NOT_OPEN'
  | 'STREAM_CONFLICT'
  | 'UNAUTHENTICATED'
  | 'METHOD_NOT_ALLOWED'
  | 'NOT_ACCEPTABLE'
  | 'PAYLOAD_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'UNAVAILABLE'
  | 'WORKER_UNREACHABLE'
  | 'TOO_MANY_READERS'
  | `DATABASE_${DatabaseErrorKind}`
  | 'INTERNAL_SERVER_ERROR'

export type ErrorCode = RefusalCode | RequestErrorCode

interface ErrorMeaning {
  /**
   * The GraphQL type, which implements Error; null when it is always a top-level error, with the code in its
   * extensions.
   */
  readonly type: string | null
  /** The status of the HTTP answer when the whole request fails with it; 200 when the error is a part of the answer. */
  readonly status: number
  readonly meaning: string
  /** What the caller can do. */
  readonly remedy: string
}

/** Every error code of the API. A missing code does not compile. The schema's texts come from here. */
export const errorCodes = {
  NOT_FOUND: {
    type: 'NotFoundError',
    status: 200,
    meaning: 'Something that the input names does not exist.',
    remedy: 'Correct the name at path, or make it first.',
  },
  INVALID_INPUT: {
    type: 'InvalidInputError',
    status: 200,
    meaning: 'Values of the input are out of their bounds. Nothing was changed.',
    remedy: 'Correct every field that issues names.',
  },
  NAME_TAKEN: {
    type: 'NameTakenError',
    status: 200,
    meaning: 'Another service of the project holds the name, until its last replica has ended.',
    remedy: 'Choose another name, or wait.',
  },
  QUOTA_EXCEEDED: {
    type: 'QuotaExceededError',
    status: 200,
    meaning: 'The project could never hold that many replicas, even if it had no others.',
    remedy: 'Ask for fewer, or raise its maxReplicas.',
  },
  CONFLICT: {
    type: 'ConflictError',
    status: 200,
    meaning: 'Somebody else changed the service after the expected revision.',
    remedy: 'Read it again, and decide again.',
  },
  NO_CHANGE: {
    type: 'NoChangeError',
    status: 200,
    meaning: 'There is nothing to do.',
    remedy: 'The object is already as you want it.',
  },
  FORBIDDEN: {
    type: 'ForbiddenError',
    status: 200,
    meaning: 'The token does not allow it.',
    remedy: 'Use another token, as the message says.',
  },
  INVALID_STATE: {
    type: 'InvalidStateError',
    status: 200,
    meaning: 'The object is in a state that does not allow it.',
    remedy: 'Do first what the message says.',
  },
  IDEMPOTENCY_MISMATCH: {
    type: 'IdempotencyMismatchError',
    status: 200,
    meaning: `The idempotencyKey was used with another input within ${idempotencyKeyHours} hours.`,
    remedy: 'Use a new key for a new wish.',
  },
  FENCED: {
    type: 'FencedError',
    status: 200,
    meaning: 'The epoch is old.',
    remedy: 'Stop every replica and register again.',
  },
  OVERTAKEN: {
    type: 'OvertakenError',
    status: 200,
    meaning: 'A later registration of the same state directory was taken already.',
    remedy: 'If the state directory is an old copy, register with a number above the newest.',
  },
  BAD_USER_INPUT: {
    type: null,
    status: 400,
    meaning: 'A variable or an argument is not allowed, and no result could say so as data.',
    remedy: 'Correct what the message names.',
  },
  BAD_REQUEST: {
    type: null,
    status: 400,
    meaning: 'The request is not one of GraphQL over HTTP. Nothing was done.',
    remedy: 'Send a JSON object with query, and if needed variables and operationName.',
  },
  GRAPHQL_PARSE_FAILED: {
    type: null,
    status: 400,
    meaning: 'The document is not GraphQL, or is nested too deeply. Nothing was done.',
    remedy: 'Correct the document at the locations of the error.',
  },
  GRAPHQL_VALIDATION_FAILED: {
    type: null,
    status: 400,
    meaning: 'The document does not fit the schema. Nothing was done.',
    remedy: 'Correct the document at the locations of the error. The schema is at /schema.graphql.',
  },
  OPERATION_RESOLUTION_FAILURE: {
    type: null,
    status: 400,
    meaning: 'The document does not say which operation to execute. Nothing was done.',
    remedy: 'Send the name of one of its operations as operationName.',
  },
  STREAM_FORBIDDEN: {
    type: null,
    status: 403,
    meaning: 'The event stream belongs to another token.',
    remedy: 'Open a stream with your own token.',
  },
  STREAM_NOT_OPEN: {
    type: null,
    status: 404,
    meaning: 'The event stream that the request names is not open.',
    remedy: 'Open it before you send operations.',
  },
  STREAM_CONFLICT: {
    type: null,
    status: 409,
    meaning: 'The event stream is open already, or an operation with this id goes on.',
    remedy: 'End it first, or choose another id.',
  },
  UNAUTHENTICATED: {
    type: null,
    status: 401,
    meaning: 'There is no token, or it is not valid.',
    remedy: 'Send "Authorization: Bearer <token>", or connectionParams.authorization on a WebSocket.',
  },
  METHOD_NOT_ALLOWED: {
    type: null,
    status: 405,
    meaning: 'The address does not answer the method of the request.',
    remedy: 'Use a method that the header Allow of the answer has.',
  },
  NOT_ACCEPTABLE: {
    type: null,
    status: 406,
    meaning: 'The header Accept takes no form in which the server could answer. Nothing was done.',
    remedy: 'Accept application/json, or text/event-stream for a subscription.',
  },
  PAYLOAD_TOO_LARGE: {
    type: null,
    status: 413,
    meaning: 'The body of the request is too large. Nothing was done.',
    remedy: 'Send less than the bound that the message has.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    type: null,
    status: 415,
    meaning: 'The server does not read bodies of this type, character set or encoding. Nothing was done.',
    remedy: 'Send JSON with "Content-Type: application/json", as UTF-8 and not compressed.',
  },
  UNAVAILABLE: {
    type: null,
    status: 503,
    meaning: 'This server was stopped for a while and wakes. Nothing was changed.',
    remedy: 'Send it again.',
  },
  WORKER_UNREACHABLE: {
    type: null,
    status: 200,
    meaning: 'The worker that has the answer is not connected to any server, or did not answer in time.',
    remedy: 'Try again when its host is REACHABLE.',
  },
  TOO_MANY_READERS: {
    type: null,
    status: 503,
    meaning: 'As many callers follow logs on this server as it allows.',
    remedy: 'End some of these subscriptions, or use another server.',
  },
  DATABASE_UNREACHABLE: {
    type: null,
    status: 503,
    meaning: 'The database does not answer.',
    remedy: 'Try again in a moment, a change with the same idempotencyKey: the message says whether it was done.',
  },
  DATABASE_READ_ONLY: {
    type: null,
    status: 503,
    meaning: 'The database is read-only. Reads and running replicas go on.',
    remedy: 'Try again when an operator has mended it.',
  },
  DATABASE_FULL: {
    type: null,
    status: 503,
    meaning: "The database's disk is full. Reads and running replicas go on.",
    remedy: 'Try again when an operator has mended it.',
  },
  INTERNAL_SERVER_ERROR: {
    type: null,
    status: 500,
    meaning: 'The server has a fault. Its log has the cause under the errorId of the extensions.',
    remedy: 'Report the errorId.',
  },
} as const satisfies Readonly<Record<ErrorCode, ErrorMeaning>> &
  Readonly<Record<RefusalCode, { readonly type: string }>>

/** The codes of the failures that are answered as data. */
export const refusalCodes = (Object.keys(errorCodes) as ErrorCode[]).filter(
  (code): code is RefusalCode => errorCodes[code].type !== null,
)

/** The HTTP status of a request that fails as a whole. */
export function statusOf(code: unknown): number {
  return typeof code === 'string' && Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode].status : 500
}
