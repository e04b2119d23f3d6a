import type { Tail } from '../feed/tail.ts'
import type { DatabaseClock } from '../store/database/clock.ts'
import type { LogReaders } from './logs/logReaders.ts'
import type { Outlook } from './placement/outlook.ts'
import type { PlacementView } from './placement/placementView.ts'
import type { Previews } from './placement/previews.ts'
import type { Sessions } from './tokens/sessions.ts'
import type { ReturningWorkers } from './workers/returningWorkers.ts'
import type { WorkerRefusals } from './workers/workerRefusals.ts'
import type { WorkersContext } from './workers/workersContext.ts'

/** The parts of a running server as the edges (GraphQL, HTTP) see them. `server/compose.ts` makes it once. */
export interface ServerContext extends WorkersContext {
  readonly tail: Tail
  readonly clock: DatabaseClock
  /** Makes a new UUID (version 7). */
  readonly newId: () => string
  readonly sessions: Sessions
  readonly logReaders: LogReaders
  readonly previews: Previews
  readonly placementView: PlacementView
  readonly outlook: Outlook
  readonly workerRefusals: WorkerRefusals
  readonly returningWorkers: ReturningWorkers
}
