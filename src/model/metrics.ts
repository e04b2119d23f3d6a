/**
 * Every metric of /metrics that is about this product, by the name that the code uses. Node's own metrics (process_…,
 * nodejs_…, with the event loop's delay as nodejs_eventloop_lag_…) stand beside them. All are of one server; revisions
 * and facts are the same on every server of a database.
 */

interface Described {
  /** The name that Prometheus shows. */
  readonly name: string
  readonly help: string
  /** The name of its one label, if it has one. */
  readonly label?: string
}

/** Counters only grow, and are counted where it happens. */
export const counters = {
  commits: {
    name: 'xce_commits_total',
    help: 'Batches that the commit statement wrote, or compared, without an error.',
  },
  commitErrors: {
    name: 'xce_commit_errors_total',
    help: 'Commit statements that failed as a whole: refused by the database, or cut.',
    label: 'reason',
  },
  conflicts: {
    name: 'xce_commit_conflicts_total',
    help: 'Changes of services that a guard refused: stale (another server was faster), fenced, precondition (a host or a worker is not as it was taken to be), quota.',
    label: 'verdict',
  },
  retries: { name: 'xce_commit_retries_total', help: 'Intents that were decided again.' },
  facts: { name: 'xce_facts_total', help: 'Facts that this server read from the fact log, whoever committed them.' },
  factsLost: { name: 'xce_facts_lost_total', help: 'Times that facts were trimmed before this server had read them.' },
  timerRuns: { name: 'xce_timer_ticks_total', help: 'Services whose due timers this server ran.' },
  placementRuns: { name: 'xce_placement_runs_total', help: 'Runs of placement.' },
  grants: {
    name: 'xce_placement_grants_total',
    help: 'Grants that placement submitted, by what became of them.',
    label: 'outcome',
  },
  registrations: {
    name: 'xce_worker_registrations_total',
    help: 'Registrations of workers that this server took: each raises the epoch of its worker.',
  },
  fenced: {
    name: 'xce_worker_fenced_total',
    help: 'Messages of workers that were answered FENCED: they named an epoch that is over.',
  },
  verdicts: {
    name: 'xce_worker_verdicts_total',
    help: 'Judgements on silent workers that this server wrote: UNREACHABLE, LOST, HELD (kept from being LOST by the brake).',
    label: 'to',
  },
  leasesRestarted: {
    name: 'xce_lease_restarts_total',
    help: 'Times that every lease started again, because this server could not have taken their renewals.',
  },
  trimmed: { name: 'xce_retention_deleted_rows_total', help: 'Rows of history that retention deleted.', label: 'rows' },
} as const satisfies Record<string, Described>

/** A histogram has buckets, each of which counts the values up to its bound. */
export const histograms = {
  commitSeconds: {
    name: 'xce_commit_seconds',
    help: 'From the sending of a commit statement to its answer.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  },
  commitServices: {
    name: 'xce_commit_batch_services',
    help: 'Services in one commit statement.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
  },
  feedLagSeconds: {
    name: 'xce_feed_lag_seconds',
    help: 'From the commit of the oldest fact that was read at once to its hand-over to subscribers, by the database’s clock.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5],
  },
  leaseLeftSeconds: {
    name: 'xce_lease_left_seconds',
    help: 'What was left of a worker’s lease when this server renewed it; the first bucket has those that were late.',
    buckets: [0, 0.5, 1, 2.5, 5, 7.5, 10, 15, 30, 60],
  },
  placementSeconds: {
    name: 'xce_placement_seconds',
    help: 'A run of placement, from the reading of what waits to the last grant’s commit.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
} as const satisfies Record<string, Described & { readonly buckets: readonly number[] }>

/** Gauges are read when /metrics is asked. */
export const gauges = {
  revision: { name: 'xce_feed_revision', help: 'The newest revision that this server has handed to its subscribers.' },
  feedLive: {
    name: 'xce_feed_live',
    help: '1 while this server follows the fact log, 0 while the database does not answer.',
  },
  subscribers: { name: 'xce_feed_subscribers', help: 'Open subscriptions.' },
  groups: { name: 'xce_feed_groups', help: 'Groups of alike subscriptions: each is executed once per change.' },
  waitingBytes: { name: 'xce_feed_waiting_bytes', help: 'Bytes that wait for slow subscribers.' },
  topics: { name: 'xce_feed_topics', help: 'Services, hosts and lists that somebody subscribes to.' },
  timersDue: { name: 'xce_timers_due', help: 'Timers that are due and have not been run, by any server.' },
  waiting: {
    name: 'xce_replicas_waiting',
    help: 'Replicas that are not placed, of all services, by what they wait for.',
    label: 'reason',
  },
  hosts: {
    name: 'xce_hosts',
    help: 'Hosts that are not removed, each by the first of these that it is: LOST, UNREACHABLE, ENDED, DRAINED, DRAINING, CORDONED, OPEN.',
    label: 'state',
  },
  cached: { name: 'xce_snapshot_cache_services', help: 'Services whose state is cached for commits.' },
} as const satisfies Record<string, Described>

/** These counters only grow, too. The feed counts them itself, and they are read when /metrics is asked. */
export const feedCounters = {
  frames: {
    name: 'xce_feed_frames_total',
    help: 'Frames that were made: for a whole group at once, or to catch one subscriber up.',
    label: 'for',
  },
  delivered: { name: 'xce_feed_frames_delivered_total', help: 'Frames handed to subscribers.' },
  collapsed: {
    name: 'xce_feed_collapsed_total',
    help: 'Slow subscribers whose waiting frames were given up for one SNAPSHOT.',
  },
  cut: { name: 'xce_feed_cut_total', help: 'Subscribers cut because their token is no longer valid.' },
  closed: { name: 'xce_feed_closed_total', help: 'Sockets closed because too many bytes waited.' },
} as const satisfies Record<string, Described>

export type CounterName = keyof typeof counters
export type HistogramName = keyof typeof histograms

/** Where counts go. The code that counts does not know who shows the counts. */
export interface Meter {
  /** `label` is the value of the counter's label, if it has one. */
  count(counter: CounterName, by?: number, label?: string): void
  observe(histogram: HistogramName, value: number): void
}

/** A meter for code whose counts nobody wants. */
export const noMeter: Meter = { count: () => undefined, observe: () => undefined }
