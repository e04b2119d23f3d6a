import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Meter } from '../model/metrics.ts'
import type { DatabaseClock } from '../store/clock.ts'
import type { Committer } from '../store/commit/committer.ts'
import type { Database } from '../store/database.ts'
import type { Tail } from '../store/tail.ts'
import type { Feed } from './feed/feed.ts'
import type { LogRequests } from './logRequests.ts'
import type { Previews } from './previews.ts'
import type { Sessions } from './sessions.ts'
import type { WorkerRefusals } from './workerRefusals.ts'

/** What a running server consists of, as the edges (GraphQL, HTTP) see it. Made once, by `startServer.ts`. */
export interface App {
  readonly config: Config
  readonly log: Logger
  readonly database: Database
  readonly committer: Committer
  readonly tail: Tail
  readonly clock: DatabaseClock
  /** A new UUID (version 7). */
  readonly newId: () => string
  readonly feed: Feed
  readonly sessions: Sessions
  readonly logRequests: LogRequests
  readonly previews: Previews
  readonly workerRefusals: WorkerRefusals
  readonly meter: Meter
}
