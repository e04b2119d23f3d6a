import type { Probe } from '../../model/content.ts'
import type { ProbeKind, ReportedProbe } from '../../model/lastProbe.ts'
import type { Assignment } from '../assignment.ts'
import { bootSeconds } from '../machine/bootClock.ts'
import { ticksPerSecond } from '../machine/processTable.ts'
import { ProbeNews } from '../probe/probeNews.ts'
import { checkOf } from '../probe/target.ts'
import { type ProbeResult, type ProbeWatch, watchProbe } from '../probe/watchProbe.ts'
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

  const watch = (
    kind: ProbeKind,
    probe: Probe,
    how: Pick<ProbeWatch, 'healthy' | 'eager' | 'signal'>,
    react: (result: ProbeResult) => void,
  ): void => {
    const check = checkOf(probe.action, probe.timeoutSeconds, target)
    const onResult = (result: ProbeResult): void => {
      news.add(kind, result.failure)
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
