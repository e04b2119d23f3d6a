import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import type { Feed } from '../../feed/feed.ts'
import type { Meter } from '../../model/metrics.ts'
import type { Committer } from '../../store/commit/committer.ts'
import type { Database } from '../../store/database/database.ts'
import type { LogRequests } from '../logs/logRequests.ts'

/** The parts of a running server that the workers' protocol needs. `ServerContext` has them all. */
export interface WorkersContext {
  readonly config: Config
  readonly log: Logger
  readonly database: Database
  readonly committer: Committer
  readonly feed: Feed
  readonly logRequests: LogRequests
  readonly meter: Meter
}
