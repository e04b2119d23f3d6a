import type { Instant } from './id.ts'

export type ProbeKind = 'STARTUP' | 'READINESS' | 'LIVENESS'

/** What a worker tells of the probes of the current start: equal results in a row are told as one. */
export interface ReportedProbe {
  readonly kind: ProbeKind
  readonly ok: boolean
  /** What is wrong, as a part of a sentence without a full stop. Of a success: what the worker could not see; mostly null. */
  readonly message: string | null
  /** How many equal results there were in a row. */
  readonly count: number
  /** How long ago the first of them was. */
  readonly seconds: number
}

/** What is known of the probes of a replica's current start. */
export interface LastProbe extends Omit<ReportedProbe, 'seconds'> {
  /** When the first of the equal results was. */
  readonly since: Instant
  /** When the server heard of it last. */
  readonly at: Instant
  /** How often a failure was told in this start that was not the result before, this one included. */
  readonly failures: number
}

/** How a process of a replica ended, or why it could not be started. */
export interface LastExit {
  readonly start: number
  readonly code: number | null
  readonly signal: string | null
  readonly at: Instant
  readonly message: string | null
}
