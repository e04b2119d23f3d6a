import type { HostId, WorkerId } from '../../../model/id.ts'
import type { ServiceIntent } from '../../../model/intent.ts'

/**
 * What the commit compares for an intent beside the service itself: a host whose room it takes, or the state of a
 * worker.
 */
export type Precondition = HostId | WorkerId

export function preconditionsOf(intent: ServiceIntent): readonly Precondition[] {
  switch (intent.kind) {
    case 'grant':
      return intent.grants.map(({ hostId }) => hostId)
    case 'adopt':
      return [intent.reporter.workerId]
    case 'report':
      return intent.full === true ? [intent.reporter.workerId] : []
    case 'unreach':
    case 'lose':
    case 'drain':
    case 'undrain':
    case 'hostAddresses':
      return [intent.worker]
    default:
      return []
  }
}
