import type { Expectation } from './scenario.ts'
import type { SimulatedService } from './simulatedService.ts'

/** Says in one sentence each what of an expectation is not met. */
export function unmet(expectation: Expectation, service: SimulatedService | undefined): string[] {
  const { service: name, ...expected } = expectation
  if (service === undefined) return [`Expected service ${name}, and there is none.`]
  const { columns, rollout, versions } = service.snapshot
  const faults: string[] = []
  const compare = (what: string, is: unknown, wanted: unknown) => {
    if (wanted !== undefined && is !== wanted) faults.push(`Expected ${what} ${wanted} of ${name}, and it is ${is}.`)
  }
  compare('status', columns.deletedAt === null ? columns.status : 'DELETED', expected.status)
  compare('version', columns.versionNumber, expected.version)
  compare('release', versions.get(columns.versionNumber)?.content.command[1], expected.release)
  compare('rollout state', rollout.state, expected.rollout)
  compare('active replicas', columns.activeReplicas, expected.active)
  compare('available replicas', columns.availableReplicas, expected.available)
  const { blocker, lowestAvailable, highestActive } = expected
  const reasons = columns.blockers.map(({ reason }) => reason)
  if (blocker !== undefined && !reasons.some((reason) => reason === blocker)) {
    faults.push(
      `Expected blocker ${blocker} of ${name}, and there ${reasons.length === 0 ? 'is none' : `are ${reasons.join(', ')}`}.`,
    )
  }
  const lowest = service.watch.lowestAvailable
  if (lowestAvailable !== undefined && (lowest === null || lowest < lowestAvailable)) {
    const is = lowest === null ? 'they were never all available' : `there were only ${lowest} once`
    faults.push(`Expected that at least ${lowestAvailable} replicas of ${name} stay available, and ${is}.`)
  }
  if (highestActive !== undefined && service.watch.highestActive > highestActive) {
    faults.push(
      `Expected at most ${highestActive} active replicas of ${name}, and there were ${service.watch.highestActive} once.`,
    )
  }
  return faults
}
