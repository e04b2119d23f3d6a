import { Prisma } from '../../generated/prisma/client.ts'

/** What PostgreSQL said of a statement that it refused: nothing of it was done. */
export interface SqlError {
  /** Five characters: https://www.postgresql.org/docs/current/errcodes-appendix.html */
  readonly state: string
  /** Of a unique or foreign key violation. */
  readonly constraint: string | null
}

interface AdapterCause {
  /** Of the adapter: what kind of failure it was. */
  readonly kind?: string
  readonly originalCode?: string
  readonly constraint?: { readonly index?: string }
}

// The connection was cut, or the server went away: whether the statement was done is unknown.
const cutClasses = ['08', '57', '58', 'XX']
const cutStates = ['25P03', '25P04']

/**
 * What was refused, or null where the outcome is unknown. A constraint is told by its name only; Prisma's own codes for the same thing
 * (P2002 …) come from its query methods, not from raw statements.
 */
export function sqlErrorOf(error: unknown): SqlError | null {
  const cause = adapterCauseOf(error)
  const state = cause?.originalCode
  if (state === undefined || !/^[0-9A-Z]{5}$/.test(state)) return null
  if (cutStates.includes(state) || cutClasses.includes(state.slice(0, 2))) return null
  return { state, constraint: cause?.constraint?.index ?? null }
}

/** What Prisma's adapter made of an error of the driver; null: it is none of those. */
export function adapterCauseOf(error: unknown): AdapterCause | null {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return null
  const adapterError = error.meta?.['driverAdapterError'] as { readonly cause?: AdapterCause } | undefined
  return adapterError?.cause ?? null
}

export const uniqueViolation = '23505'
/** Another transaction was in the way; the same statement may pass the next time. */
export const isTransient = (state: string) => state === '40P01' || state === '40001' || state === '55P03'
