import { portConflictsUntilBlocker } from './bounds.ts'
import type { Replica } from './service.ts'

type Conflicts = Pick<Replica, 'portConflicts'>

/** The ports of a replica were taken so often in a row that its blocker says how much of the range is taken (R13). */
export const isRangeBusy = ({ portConflicts }: Conflicts): boolean => portConflicts >= portConflictsUntilBlocker

/** Events tell of the first conflict in a row, the 2nd, the 4th, the 8th …: a busy range must not fill the log. */
export const isConflictTold = ({ portConflicts }: Conflicts): boolean => (portConflicts & (portConflicts - 1)) === 0
