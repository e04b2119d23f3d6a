import type { RestartPolicy } from '../model/content.ts'

export type RestartDecision = { readonly kind: 'restart'; readonly afterSeconds: number } | { readonly kind: 'giveUp' }

/**
 * Whether a process that ended is started again in place. `restarts`: when it was before, in seconds on any one clock. At most `maxAttempts`
 * within `windowSeconds`; the first within the window is at once, the next ones after the delay.
 */
export function decideRestart(policy: RestartPolicy, restarts: readonly number[], now: number): RestartDecision {
  const recent = restarts.filter((at) => at > now - policy.windowSeconds).length
  if (recent >= policy.maxAttempts) return { kind: 'giveUp' }
  return { kind: 'restart', afterSeconds: recent === 0 ? 0 : policy.delaySeconds }
}
