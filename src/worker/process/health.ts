import type { Assignment } from '../assignment.ts'
import { bootSeconds } from '../machine/bootClock.ts'
import { ticksPerSecond } from '../machine/processTable.ts'
import { type Check, checkOf } from '../probe/target.ts'
import { watchProbe } from '../probe/watchProbe.ts'
import { type ListenerLook, lookAtListeners } from './listenerCheck.ts'
import type { ReplicaProcess } from './replicaProcess.ts'
import type { Starter } from './starter.ts'

export interface Health {
  /** Resolves when the liveness probe has failed; `message` then says how. */
  readonly dead: Promise<void>
  readonly message: string | null
  close(): void
}

/** Looks at the listeners only while the replica is about to become ready, and not again while it is. */
class ListenerGuard {
  isReady: boolean
  note: string | null = null
  /** Called when the probes first pass although another program listens, and when it is another one. */
  onFault: (fault: string) => void = () => undefined
  #last: string | null = null
  readonly #look: () => Promise<ListenerLook>

  constructor(look: () => Promise<ListenerLook>, isReady: boolean) {
    this.#look = look
    this.isReady = isReady
  }

  async fault(): Promise<string | null> {
    if (this.isReady) return null
    const { fault, note } = await this.#look()
    this.note = note
    if (fault !== null && fault !== this.#last) this.onFault(fault)
    this.#last = fault
    return fault
  }
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
    const probe = checkOf(readiness.action, readiness.timeoutSeconds, target)
    const listeners = new ListenerGuard(() => lookAtListeners(assignment, running.pid, starter.sessions), ready)
    listeners.onFault = (fault) => {
      const message = `It is not ready: ${fault}.`
      starter.log.warn({ replica: assignment.replica }, message)
      onReady(false, message)
    }
    const check: Check = async (aborted) => (await probe(aborted)) ?? (await listeners.fault())
    const onChange = (healthy: boolean, failure: string | null): void => {
      listeners.isReady = healthy
      onReady(healthy, failure === null ? listeners.note : `It is not ready: ${failure}.`)
    }
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
