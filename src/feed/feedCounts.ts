/** Counts what the feed has done since the start and what it holds now, for /metrics and tests. */
export class FeedCounts {
  /** Subscriptions that are open, and groups of alike ones. */
  subscribers = 0
  groups = 0
  /** Frames that were made for a whole group, and catch-up frames for those that joined or fell behind. */
  groupFrames = 0
  catchUpFrames = 0
  /** Frames handed to subscribers. */
  delivered = 0
  /** Subscribers whose waiting frames were given up for one SNAPSHOT. */
  collapsed = 0
  /** Subscribers cut because their token is no longer valid. */
  cut = 0
  /** Sockets closed because too many bytes waited. */
  closed = 0
}
