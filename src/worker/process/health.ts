import type { Probe } from '../../model/content.ts'
import type { ProbeKind, ReportedProbe } from '../../model/lastProbe.ts'
import type { Assignment } from '../assignment.ts'
import { bootSeconds } from '../machine/bootClock.ts'
import { ticksPerSecond } from '../machine/processTable.ts'
import { ProbeNews } from '../probe/probeNews.ts'
import { type Check, checkOf } from '../probe/target.ts'
import { type ProbeResult, type ProbeWatch, watchProbe } from '../probe/watchProbe.ts'
import { type ListenerLook, lookAtListeners } from './listenerCheck.ts'
import type { ReplicaProcess } from './replicaProcess.ts'
import type { Starter } from './starter.ts'

export interface Health {
  /** Resolves when the startup or the liveness probe has failed; `message` then says how. */
  readonly dead: Promise<void>
  readonly message: string | null
  /** The result of the probe that failed. */
  readonly failed: ReportedProbe | null
  close(): void
}

/**
 * Looks at the listeners on the replica's ports while the replica is about to become ready, and not again while it is
 * (R13). Its probes would take the answers of any other program for its own.
 */
class ListenerGuard {
  isReady: boolean
  /** What the last look could not see, so that the replica counts as ready all the same. */
  note: string | null = null
  #last: string | null = null
  readonly #look: () => Promise<ListenerLook>
  readonly #onFault: (fault: string) => void

  /** `onFault` is called when the probe first succeeds although another program listens, and when that is another one. */
  constructor(look: () => Promise<ListenerLook>, isReady: boolean, onFault: (fault: string) => void) {
    this.#look = look
    this.isReady = isReady
    this.#onFault = onFault
  }

  /** Returns the check, after whose success the listeners must be the replica's own. */
  after(probe: Check): Check {
    return async (aborted) => (await probe(aborted)) ?? (await this.#fault())
  }

  async #fault(): Promise<string | null> {
    if (this.isReady) return null
    const { fault, note } = await this.#look()
    this.note = note
    if (fault !== null && fault !== this.#last) this.#onFault(fault)
    this.#last = fault
    return fault
  }
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
  /** What was told of the probes of this start already. */
  readonly told: ReportedProbe | null
  readonly onReady: (ready: boolean, probe: ReportedProbe | null) => void
  /** The probes have something to tell that changes nothing else. */
  readonly onNews: (probe: ReportedProbe) => void
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
  let failed: ReportedProbe | null = null
  let die = (): void => undefined
  const dead = new Promise<void>((resolve) => {
    die = resolve
  })

  const age = (): number => Math.max(0, bootSeconds() - running.startTicks / ticksPerSecond)
  const news = new ProbeNews({ ageSeconds: age(), told: watched.told, onNews: watched.onNews })

  // The probe that makes the replica ready.
  const readying: ProbeKind = readiness === null ? 'STARTUP' : 'READINESS'
  const look = (): Promise<ListenerLook> =>
    lookAtListeners(assignment, starter.belonging(assignment, running), starter.sessions)
  const listeners = new ListenerGuard(look, watched.ready, (fault) =>
    starter.log.warn({ replica: assignment.replica }, `It is not ready: ${fault}.`),
  )

  const watch = (
    kind: ProbeKind,
    probe: Probe,
    how: Pick<ProbeWatch, 'healthy' | 'eager' | 'signal'>,
    react: (result: ProbeResult) => void,
  ): void => {
    const own = checkOf(probe.action, probe.timeoutSeconds, target)
    const check = kind === readying ? listeners.after(own) : own
    const onResult = (result: ProbeResult): void => {
      if (kind === readying) listeners.isReady = result.healthy
      news.add(kind, result.failure, kind === readying ? listeners.note : null)
      react(result)
      news.tell(kind)
    }
    void watchProbe({ probe, check, ageSeconds: age(), onResult, ...how })
  }
  /** Ends the process when a probe has failed. */
  const dieOf = (kind: ProbeKind, { failureThreshold }: Probe, { failure, healthy }: ProbeResult): void => {
    if (healthy || message !== null) return
    const times = failureThreshold === 1 ? '' : ` ${failureThreshold} times in a row`
    failed = news.take(kind)
    message = `Its ${kind.toLowerCase()} probe failed${times}: ${failed?.message ?? failure}.`
    die()
  }

  const watchStarted = (): void => {
    if (readiness !== null) {
      watch('READINESS', readiness, { healthy: watched.ready, eager: !watched.ready, signal }, (result) => {
        if (result.changed) watched.onReady(result.healthy, news.take('READINESS'))
      })
    } else if (startup !== null && !watched.ready) watched.onReady(true, news.take('STARTUP'))
    if (liveness !== null) {
      watch('LIVENESS', liveness, { healthy: true, eager: false, signal }, (result) =>
        dieOf('LIVENESS', liveness, result),
      )
    }
  }

  if (startup === null || watched.started) watchStarted()
  else {
    const starting = new AbortController()
    const either = AbortSignal.any([signal, starting.signal])
    watch('STARTUP', startup, { healthy: true, eager: true, signal: either }, (result) => {
      dieOf('STARTUP', startup, result)
      if (result.failure !== null) return
      starting.abort()
      watched.onStarted()
      watchStarted()
    })
  }
  return {
    dead,
    get message() {
      return message
    },
    get failed() {
      return failed
    },
    close: () => {
      probing.abort()
      starter.life.removeEventListener('abort', onEnd)
    },
  }
}
