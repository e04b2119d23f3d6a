import type { ClusterOutcome } from '../../store/commit/outcome.ts'
import { errorOf } from '../kit/refusalError.ts'

/** What the store answers for a profile, project, queue or host, as the mutation's result. Throws what was refused. */
export function appliedOf<Kind extends 'profile' | 'project' | 'queue' | 'host'>(
  kind: Kind,
  outcome: ClusterOutcome,
): Extract<ClusterOutcome, { kind: Kind }> {
  if (outcome.kind === 'refused') throw errorOf(outcome.refusal)
  const applied = outcome.kind === 'remembered' ? (outcome.result as unknown as ClusterOutcome) : outcome
  if (applied.kind !== kind) throw new Error(`A ${kind} was applied, but the store answered for a ${applied.kind}.`)
  return applied as Extract<ClusterOutcome, { kind: Kind }>
}
