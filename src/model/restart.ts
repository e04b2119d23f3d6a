import type { RestartPolicy } from './content.ts'
import type { ReportedEndReason } from './intent.ts'

export type RestartDecision =
  | { readonly kind: 'restart'; readonly afterSeconds: number }
  | { readonly kind: 'giveUp'; readonly endReason: Extract<ReportedEndReason, 'EXITED' | 'GAVE_UP'> }

/**
 * Decides whether a process that ended is started again in place. `restarts` are the instants of earlier restarts, in
 * seconds of any one clock. At most `maxAttempts` restarts happen within `windowSeconds`; the first one within the
 * window comes at once, the others after the delay. With no attempts allowed the process has simply EXITED.
 */
export function decideRestart(policy: RestartPolicy, restarts: readonly number[], now: number): RestartDecision {
  const { maxAttempts, windowSeconds, delaySeconds } = policy
  const recent = restarts.filter((at) => at > now - windowSeconds).length
  if (recent >= maxAttempts) return { kind: 'giveUp', endReason: maxAttempts === 0 ? 'EXITED' : 'GAVE_UP' }
  return { kind: 'restart', afterSeconds: recent === 0 ? 0 : delaySeconds }
}
