import { randomUUID } from 'node:crypto'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import type { Probe } from '../../../src/model/content.ts'
import type { Assignment, Report } from '../../../src/worker/assignment.ts'
import { Supervisor } from '../../../src/worker/process/supervisor.ts'
import { expectNoProcessWith, expectNothingLeft, program } from '../fixtures/processes.ts'
import { until } from '../fixtures/until.ts'

export function newReplicaId(): string {
  return `Replica_${randomUUID()}`
}

export function assignmentOf(change: Partial<Assignment> = {}): Assignment {
  return {
    replica: newReplicaId(),
    goal: 'RUN',
    service: 'web',
    project: 'default',
    index: 0,
    versionNumber: 1,
    command: program('runs'),
    env: [],
    workingDirectory: null,
    ports: [],
    cpuMillis: 100,
    memoryMiB: 64,
    startup: null,
    readiness: null,
    liveness: null,
    restart: { mode: 'ALWAYS', maxAttempts: 3, windowSeconds: 600, delaySeconds: 0 },
    stop: { signal: 'TERM', drainSeconds: 0, graceSeconds: 10, onLostContact: 'KEEP' },
    ...change,
  }
}

export function httpProbe(change: Partial<Probe> = {}): Probe {
  // One failure counts; so a busy machine may take its time for an answer.
  const times = {
    initialDelaySeconds: 0,
    periodSeconds: 1,
    timeoutSeconds: 60,
    failureThreshold: 1,
    successThreshold: 1,
  }
  const action = { kind: 'http', port: 'http', path: '/health', scheme: 'HTTP', headers: [] } as const
  return { action, ...times, ...change }
}

/** A supervisor on a directory of its own, and all that it reported. */
export class Supervision {
  readonly directory: string = realpathSync(mkdtempSync(path.join(tmpdir(), 'xce-worker-')))
  readonly reports: Report[] = []
  /** Its log: what is a warning or worse. */
  readonly log: { readonly msg: string; readonly replica?: string }[] = []
  readonly #replicas = new Set<string>()
  #supervisor: Supervisor = this.#open()

  get supervisor(): Supervisor {
    return this.#supervisor
  }

  /** As a worker that ends and another that starts: the processes run on. */
  async reopen(): Promise<number> {
    await this.#supervisor.close()
    this.reports.length = 0
    this.#supervisor = this.#open()
    return this.#supervisor.recover()
  }

  /** The first report of the replica, so far or to come, that fits. */
  report(replica: string, fits: Partial<Report>, after = 0): Promise<Report> {
    const wanted = Object.entries(fits)
    const fit = (report: Report): boolean =>
      report.replica === replica && wanted.every(([key, value]) => report[key as keyof Report] === value)
    return until(
      () => this.reports.slice(after).find(fit),
      `a report ${JSON.stringify(fits)}; there are ${JSON.stringify(this.reports.filter((report) => report.replica === replica))}`,
    )
  }

  /** What was said of a replica, in short. */
  story(replica: string): string[] {
    return this.reports
      .filter((report) => report.replica === replica)
      .map(({ start, state, ready, endReason }) => `${start} ${endReason ?? state}${ready ? ' ready' : ''}`)
  }

  /** Ends everything, and expects that nothing is left of it. */
  async dispose(): Promise<void> {
    await this.#supervisor.releaseAll({ drain: false })
    await this.#supervisor.close()
    await expectNoProcessWith(this.directory, ...this.#replicas)
    await expectNothingLeft()
    rmSync(this.directory, { recursive: true })
  }

  #open(): Supervisor {
    return new Supervisor({
      stateDirectory: this.directory,
      hostAddress: '127.0.0.1',
      cgroups: null,
      log: pino({ level: 'warn' }, { write: (line) => void this.log.push(JSON.parse(line)) }),
      onReport: (report) => {
        this.#replicas.add(report.replica)
        this.reports.push(report)
      },
    })
  }
}
