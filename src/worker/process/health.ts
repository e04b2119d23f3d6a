import type { Assignment } from '../assignment.ts'
import { bootSeconds } from '../machine/bootClock.ts'
import { ticksPerSecond } from '../machine/processTable.ts'
import { checkOf } from '../probe/target.ts'
import { watchProbe } from '../probe/watchProbe.ts'
import type { ReplicaProcess } from './replicaProcess.ts'
import type { Starter } from './starter.ts'

export interface Health {
  /** Resolves when the liveness probe has failed; `message` then says how. */
  readonly dead: Promise<void>
  readonly message: string | null
  close(): void
}

/** Runs the probes of one start. `ready` is the state that is known already, for a process that was found running. */
export function watchHealth(
  assignment: Assignment,
  running: ReplicaProcess,
  ready: boolean,
  starter: Starter,
  onReady: (ready: boolean, message: string | null) => void,
): Health {
  const { readiness, liveness } = assignment
  const probing = new AbortController()
  const signal = probing.signal
  const onEnd = (): void => probing.abort()
  starter.life.addEventListener('abort', onEnd)
  const target = starter.probeTarget(assignment)
  const ageSeconds = Math.max(0, bootSeconds() - running.startTicks / ticksPerSecond)
  let message: string | null = null
  if (readiness !== null) {
    const check = checkOf(readiness.action, readiness.timeoutSeconds, target)
    const onChange = (healthy: boolean, failure: string | null): void =>
      onReady(healthy, failure === null ? null : `It is not ready: ${failure}.`)
    void watchProbe({ probe: readiness, check, healthy: ready, eager: !ready, ageSeconds, onChange, signal })
  }
  const dead = new Promise<void>((resolve) => {
    if (liveness === null) return
    const check = checkOf(liveness.action, liveness.timeoutSeconds, target)
    const onChange = (healthy: boolean, failure: string | null): void => {
      if (healthy) return
      message = `It was restarted because its liveness probe failed: ${failure}.`
      resolve()
    }
    void watchProbe({ probe: liveness, check, healthy: true, eager: false, ageSeconds, onChange, signal })
  })
  return {
    dead,
    get message() {
      return message
    },
    close: () => {
      probing.abort()
      starter.life.removeEventListener('abort', onEnd)
    },
  }
}
