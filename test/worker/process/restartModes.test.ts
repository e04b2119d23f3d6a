import { afterEach, beforeEach, expect, test } from 'vitest'
import { assignmentOf, httpProbe, Supervision } from '../../support/drivers/supervision.ts'

let supervision: Supervision
beforeEach(() => {
  supervision = new Supervision()
})
afterEach(async () => {
  await supervision.dispose()
})

const sh = (line: string) => ({ command: ['sh', '-c', line] })
const failing = httpProbe({ action: { kind: 'exec', command: ['false'] } })
/** It ends with exit code 0 when it is told to, so only its worker knows that it failed. */
const endsInOrder = sh('trap "exit 0" TERM; sleep 1000 & wait')

/** How a process may end that nobody stopped. */
const ends = {
  'exit code 0': sh('exit 0'),
  'exit code 3': sh('exit 3'),
  'a signal': sh('kill -9 $$'),
  'a failed liveness probe': { ...endsInOrder, liveness: failing },
  'a failed startup probe': { ...endsInOrder, startup: failing },
  'exit code 0 with processes left behind': sh('sleep 1000 & exit 0'),
}

test.each([
  ['ALWAYS', '2 GAVE_UP', '2 GAVE_UP'],
  ['ON_FAILURE', '1 COMPLETED', '2 GAVE_UP'],
  ['NEVER', '1 COMPLETED', '1 EXITED'],
] as const)(
  '%s with at most one restart: exit code 0 is %s, everything else is %s',
  async (mode, completed, failed) => {
    const restart = { mode, maxAttempts: 1, windowSeconds: 600, delaySeconds: 0 }
    const told = await Promise.all(
      Object.entries(ends).map(async ([how, end]) => {
        const assignment = assignmentOf({ ...end, restart })
        supervision.supervisor.assign(assignment)
        const { start, endReason } = await supervision.report(assignment.replica, { state: 'ENDED' })
        return [how, `${start} ${endReason}`]
      }),
    )
    expect(told).toEqual(Object.keys(ends).map((how) => [how, how === 'exit code 0' ? completed : failed]))
  },
)
