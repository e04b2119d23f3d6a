import type { RestartPolicy } from './content.ts'
import type { ReportedEndReason } from './intent.ts'

export type RestartDecision =
  | { readonly kind: 'restart'; readonly afterSeconds: number }
  | { readonly kind: 'giveUp'; readonly endReason: Extract<ReportedEndReason, 'EXITED' | 'GAVE_UP'> }

/**
 * Whether a process that ended is started again in place. `restarts`: when it was before, in seconds on any one clock. At most `maxAttempts`
 * within `windowSeconds`; the first within the window is at once, the next ones after the delay. Where none is allowed it has just EXITED.
 */
export function decideRestart(policy: RestartPolicy, restarts: readonly number[], now: number): RestartDecision {
  const { maxAttempts, windowSeconds, delaySeconds } = policy
  const recent = restarts.filter((at) => at > now - windowSeconds).length
  if (recent >= maxAttempts) return { kind: 'giveUp', endReason: maxAttempts === 0 ? 'EXITED' : 'GAVE_UP' }
  return { kind: 'restart', afterSeconds: recent === 0 ? 0 : delaySeconds }
}
