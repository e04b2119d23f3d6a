import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import type { Feed } from '../feed/feed.ts'
import type { Tail } from '../feed/tail.ts'
import type { Meter } from '../model/metrics.ts'
import type { Committer } from '../store/commit/committer.ts'
import type { DatabaseClock } from '../store/database/clock.ts'
import type { Database } from '../store/database/database.ts'
import type { LogRequests } from './logs/logRequests.ts'
import type { Outlook } from './placement/outlook.ts'
import type { PlacementView } from './placement/placementView.ts'
import type { Previews } from './placement/previews.ts'
import type { Sessions } from './tokens/sessions.ts'
import type { WorkerRefusals } from './workers/workerRefusals.ts'

/** The parts of a running server as the edges (GraphQL, HTTP) see them. `server/compose.ts` makes it once. */
export interface ServerContext {
  readonly config: Config
  readonly log: Logger
  readonly database: Database
  readonly committer: Committer
  readonly tail: Tail
  readonly clock: DatabaseClock
  /** Makes a new UUID (version 7). */
  readonly newId: () => string
  readonly feed: Feed
  readonly sessions: Sessions
  readonly logRequests: LogRequests
  readonly previews: Previews
  readonly placementView: PlacementView
  readonly outlook: Outlook
  readonly workerRefusals: WorkerRefusals
  readonly meter: Meter
}
