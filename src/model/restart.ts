import type { RestartPolicy } from './content.ts'
import type { ReportedEndReason } from './intent.ts'

/**
 * How a process ended that nobody stopped. `completed`: with exit code 0, of its own accord. `failed`: with any other exit
 * code, by a signal, in an unknown way, because its startup or liveness probe failed, or with processes left behind it.
 */
export type ProcessOutcome = 'completed' | 'failed'

export type RestartDecision =
  | { readonly kind: 'restart'; readonly afterSeconds: number }
  | { readonly kind: 'end'; readonly endReason: Extract<ReportedEndReason, 'COMPLETED' | 'EXITED' | 'GAVE_UP'> }

/**
 * R10: decides whether a process that ended is started again in place. ALWAYS restarts after any outcome, ON_FAILURE after
 * a failure, NEVER not at all. `restarts` are the instants of earlier restarts, in seconds of any one clock. At most
 * `maxAttempts` restarts happen within `windowSeconds`; the first one within the window comes at once, the others after
 * the delay. With no attempts allowed the process has simply EXITED.
 */
export function decideRestart(
  policy: RestartPolicy,
  outcome: ProcessOutcome,
  restarts: readonly number[],
  now: number,
): RestartDecision {
  const { mode, maxAttempts, windowSeconds, delaySeconds } = policy
  if (outcome === 'completed' && mode !== 'ALWAYS') return { kind: 'end', endReason: 'COMPLETED' }
  if (mode === 'NEVER' || maxAttempts === 0) return { kind: 'end', endReason: 'EXITED' }
  const recent = restarts.filter((at) => at > now - windowSeconds).length
  if (recent >= maxAttempts) return { kind: 'end', endReason: 'GAVE_UP' }
  return { kind: 'restart', afterSeconds: recent === 0 ? 0 : delaySeconds }
}
