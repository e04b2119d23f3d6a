import type { Probe } from '../../model/content.ts'
import type { Assignment } from '../assignment.ts'
import { bootSeconds } from '../machine/bootClock.ts'
import { ticksPerSecond } from '../machine/processTable.ts'
import { checkOf } from '../probe/target.ts'
import { type ProbeWatch, watchProbe } from '../probe/watchProbe.ts'
import type { ReplicaProcess } from './replicaProcess.ts'
import type { Starter } from './starter.ts'

export interface Health {
  /** Resolves when the startup or the liveness probe has failed; `message` then says how. */
  readonly dead: Promise<void>
  readonly message: string | null
  close(): void
}

export interface HealthWatch {
  readonly assignment: Assignment
  readonly running: ReplicaProcess
  readonly starter: Starter
  /** What is known already, of a process that was found running. */
  readonly ready: boolean
  /** Whether the startup probe has succeeded already. */
  readonly started: boolean
  /** The startup probe has succeeded. */
  readonly onStarted: () => void
  readonly onReady: (ready: boolean, message: string | null) => void
}

/** Runs the probes of one start. The readiness and the liveness probe wait until the startup probe has succeeded once. */
export function watchHealth({ assignment, running, starter, ...watched }: HealthWatch): Health {
  const { startup, readiness, liveness } = assignment
  const probing = new AbortController()
  const { signal } = probing
  const onEnd = (): void => probing.abort()
  starter.life.addEventListener('abort', onEnd)
  const target = starter.probeTarget(assignment)
  let message: string | null = null
  let die = (): void => undefined
  const dead = new Promise<void>((resolve) => {
    die = resolve
  })

  const watch = (probe: Probe, how: Omit<ProbeWatch, 'probe' | 'check' | 'ageSeconds'>): void => {
    const check = checkOf(probe.action, probe.timeoutSeconds, target)
    const ageSeconds = Math.max(0, bootSeconds() - running.startTicks / ticksPerSecond)
    void watchProbe({ probe, check, ageSeconds, ...how })
  }
  /** Ends the process when a probe has failed. */
  const fatal = (name: string, { failureThreshold }: Probe) => ({
    healthy: true,
    onChange: (healthy: boolean, failure: string | null): void => {
      if (healthy || message !== null) return
      const times = failureThreshold === 1 ? '' : ` ${failureThreshold} times in a row`
      message = `It was restarted because its ${name} probe failed${times}: ${failure}.`
      die()
    },
  })

  const watchStarted = (): void => {
    if (readiness !== null) {
      const onChange = (healthy: boolean, failure: string | null): void =>
        watched.onReady(healthy, failure === null ? null : `It is not ready: ${failure}.`)
      watch(readiness, { healthy: watched.ready, eager: !watched.ready, onChange, signal })
    } else if (startup !== null && !watched.ready) watched.onReady(true, null)
    if (liveness !== null) watch(liveness, { ...fatal('liveness', liveness), eager: false, signal })
  }

  if (startup === null || watched.started) watchStarted()
  else {
    const starting = new AbortController()
    const onResult = (failure: string | null): void => {
      if (failure !== null) return
      starting.abort()
      watched.onStarted()
      watchStarted()
    }
    const either = AbortSignal.any([signal, starting.signal])
    watch(startup, { ...fatal('startup', startup), eager: true, onResult, signal: either })
  }
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
