import type { Rollout } from '../../model/service.ts'

/**
 * How far an unfinished rollout is, as one sentence: "web: rolling 3 → 4, 2 of 6 updated, waiting for web[4] to become ready." Null for the
 * creation, which comes from nothing (its replicas' own events tell it), and for a finished one.
 */
export function progressSentence(service: string, rollout: Rollout): string | null {
  const { number, fromVersion, toVersion, state, updatedReplicas, desiredReplicas, hold, finishedAt } = rollout
  if (number === 1 || finishedAt !== null) return null
  const move = fromVersion === null ? `to ${toVersion}` : `${fromVersion} → ${toVersion}`
  const progress = `${service}: ${state === 'PAUSED' ? 'paused' : 'rolling'} ${move}, ${updatedReplicas} of ${desiredReplicas} updated`
  return hold === null || state === 'PAUSED' ? `${progress}.` : `${progress}, ${uncapitalised(hold.message)}`
}

function uncapitalised(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}
