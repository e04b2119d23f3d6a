import { setTimeout as wait } from 'node:timers/promises'
import type { Probe } from '../../model/content.ts'
import { Tally } from './tally.ts'
import type { Check } from './target.ts'

export interface ProbeWatch {
  readonly probe: Probe
  readonly check: Check
  /** What holds before the first result: a readiness probe begins with false, a liveness probe with true. */
  readonly healthy: boolean
  /** Probe more often than the period until the first success. */
  readonly eager: boolean
  /** Seconds that the process runs already. */
  readonly ageSeconds: number
  readonly onChange: (healthy: boolean, message: string | null) => void
  readonly signal: AbortSignal
}

/** The first probes of a start: never nearer than this, and then after a tenth of the time that the process has run. */
const eagerMillis = 10
const eagerShare = 0.1

/**
 * Probes until `signal` aborts, and tells changes only. The next probe begins a period after the last one began, at once when that one took
 * longer.
 *
 * A start that has never been ready is probed more often than its period, so that its readiness is known at most a tenth of its start-up time
 * late (and 10 ms): some 50 probes in the first 10 s, then fewer and fewer. With the first success the period holds, so that a
 * successThreshold keeps its meaning.
 */
export async function watchProbe(watch: ProbeWatch): Promise<void> {
  const { probe, signal } = watch
  const born = performance.now() - watch.ageSeconds * 1_000
  const tally = new Tally(probe, watch.healthy)
  let eager = watch.eager
  try {
    await wait(Math.max(0, born + probe.initialDelaySeconds * 1_000 - performance.now()), undefined, { signal })
    for (;;) {
      const began = performance.now()
      const failure = await watch.check(signal)
      if (signal.aborted) return
      if (failure === null) eager = false
      if (tally.add(failure === null)) watch.onChange(tally.healthy, failure)
      const period = probe.periodSeconds * 1_000
      const soon = Math.max(eagerMillis, (performance.now() - born) * eagerShare)
      const pause = eager ? Math.min(soon, period) : Math.max(0, began + period - performance.now())
      await wait(pause, undefined, { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
