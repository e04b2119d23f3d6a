import type { HostId } from '../../model/id.ts'
import type { ServiceIntent } from '../../model/intent.ts'

/** The hosts that the commit compares for an intent. */
export function hostsOfIntent(intent: ServiceIntent): readonly HostId[] {
  switch (intent.kind) {
    case 'grant':
      return intent.grants.map(({ hostId }) => hostId)
    case 'adopt':
      return [intent.host.id]
    case 'report':
      return intent.full === true ? [intent.reporter.hostId] : []
    case 'unreach':
    case 'lose':
    case 'drain':
    case 'undrain':
      return [intent.host]
    default:
      return []
  }
}
