import { Prisma } from '../../generated/prisma/client.ts'

/** PostgreSQL's error for a statement that it refused, and of which nothing was done. */
export interface SqlError {
  /** Five characters: https://www.postgresql.org/docs/current/errcodes-appendix.html */
  readonly state: string
  /** The constraint of a unique or foreign key violation. */
  readonly constraint: string | null
}

interface AdapterCause {
  /** The adapter's kind of failure. */
  readonly kind?: string
  readonly originalCode?: string
  readonly constraint?: { readonly index?: string }
}

// The connection was cut, or the server went away, so it is unknown whether the statement was done.
const cutClasses = ['08', '57', '58', 'XX']
const cutStates = ['25P03', '25P04']

/**
 * Returns what was refused; null when the outcome is unknown. A constraint is given only by its name. Prisma's own
 * codes for the same thing (P2002 …) come from its query methods, and not from raw statements.
 */
export function sqlErrorOf(error: unknown): SqlError | null {
  const cause = adapterCauseOf(error)
  const state = cause?.originalCode
  if (state === undefined || !/^[0-9A-Z]{5}$/.test(state)) return null
  if (cutStates.includes(state) || cutClasses.includes(state.slice(0, 2))) return null
  return { state, constraint: cause?.constraint?.index ?? null }
}

/** What Prisma's adapter made of an error of the driver; null when it is another error. */
export function adapterCauseOf(error: unknown): AdapterCause | null {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return null
  const adapterError = error.meta?.['driverAdapterError'] as { readonly cause?: AdapterCause } | undefined
  return adapterError?.cause ?? null
}

export const uniqueViolation = '23505'
/** Another transaction was in the way. The same statement may succeed the next time. */
export const isTransient = (state: string) => state === '40P01' || state === '40001' || state === '55P03'
