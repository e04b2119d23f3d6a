import { portConflictsUntilBlocker } from './bounds.ts'
import type { Replica } from './service.ts'

type Conflicts = Pick<Replica, 'portConflicts'>

/** The ports of a replica were taken so often in a row that its blocker says how much of the range is taken (R13). */
export const isRangeBusy = ({ portConflicts }: Conflicts): boolean => portConflicts >= portConflictsUntilBlocker
