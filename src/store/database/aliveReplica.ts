import { Prisma } from '../../generated/prisma/client.ts'
import { aliveStates } from '../../model/replica.ts'

/**
 * An SQL condition: the replica of this table alias has not ended. It lists the states, because the indexes on hosts, workers and services hold
 * the state and PostgreSQL cannot use them for "is not ENDED".
 */
export const isAliveText = (alias: string): string =>
  `${alias}."state" IN (${aliveStates.map((state) => `'${state}'`).join(', ')})`

/** The same condition for the alias `r`, as a part of a `$queryRaw` template. */
export const isAliveSql = Prisma.raw(isAliveText('r'))

/** The same condition as a Prisma filter. */
export const whereAlive = { state: { in: aliveStates } }
