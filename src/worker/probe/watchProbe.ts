import { setTimeout as wait } from 'node:timers/promises'
import type { Probe } from '../../model/content.ts'
import { Tally } from './tally.ts'
import type { Check } from './target.ts'

export interface ProbeResult {
  /** What is wrong; null for a success. */
  readonly failure: string | null
  /** The state after it, and whether it changed with it. */
  readonly healthy: boolean
  readonly changed: boolean
}

export interface ProbeWatch {
  readonly probe: Probe
  readonly check: Check
  /** The state before the first result: a readiness probe begins with false, startup and liveness probes with true. */
  readonly healthy: boolean
  /** Whether to probe more often than the period until the first success. */
  readonly eager: boolean
  /** How long the process has been running already. */
  readonly ageSeconds: number
  readonly onResult: (result: ProbeResult) => void
  readonly signal: AbortSignal
}

/** The pause between eager probes is a tenth of the time that the process has run, and at least 10 ms. */
const eagerMillis = 10
const eagerShare = 0.1

/**
 * Probes until `signal` aborts. A probe begins one period after the last one began, or at once
 * when that one took longer.
 *
 * A start that has never been ready is probed more often than its period, so that its readiness is known at most a tenth
 * of its start-up time (and 10 ms) late. That makes about 50 probes in the first 10 s and fewer later. From the first
 * success on the period counts, so that a successThreshold keeps its meaning. A failureThreshold keeps its meaning always:
 * of the failures within one period only one counts.
 */
export async function watchProbe(watch: ProbeWatch): Promise<void> {
  const { probe, signal } = watch
  const born = performance.now() - watch.ageSeconds * 1_000
  const tally = new Tally(probe, watch.healthy)
  let eager = watch.eager
  let countedAt = Number.NEGATIVE_INFINITY
  try {
    await wait(Math.max(0, born + probe.initialDelaySeconds * 1_000 - performance.now()), undefined, { signal })
    for (;;) {
      const began = performance.now()
      const failure = await watch.check(signal)
      if (signal.aborted) return
      if (failure === null) eager = false
      const period = probe.periodSeconds * 1_000
      const counts = !eager || began - countedAt >= period
      if (counts) countedAt = began
      const changed = counts && tally.add(failure === null)
      watch.onResult({ failure, healthy: tally.healthy, changed })
      const soon = Math.max(eagerMillis, (performance.now() - born) * eagerShare)
      const pause = eager ? Math.min(soon, period) : Math.max(0, began + period - performance.now())
      await wait(pause, undefined, { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
