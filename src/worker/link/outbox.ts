import type { ReplicaName, Report } from '../assignment.ts'
import { sameReport } from '../assignment.ts'

/** The reports to send to the servers: the latest state of each replica that changed, in the order of the changes. */
export class Outbox {
  readonly #pending = new Map<ReplicaName, Report>()
  #full = false
  #wake: (() => void) | null = null

  /** Adds the report of a change. It replaces an unsent report of the same replica, because only the latest state counts. */
  put(report: Report): void {
    this.#pending.delete(report.replica)
    this.#pending.set(report.replica, report)
    this.#wakeSender()
  }

  /** The next batch is the state of all replicas, because a server asked for it. */
  askForAll(): void {
    this.#full = true
    this.#wakeSender()
  }

  /** Begins again with these reports, because a new registration contains the state of all replicas. */
  reset(reports: readonly Report[]): void {
    this.#pending.clear()
    this.#full = false
    for (const report of reports) this.#pending.set(report.replica, report)
    this.#wakeSender()
  }

  /** Resolves as soon as there is something to send. */
  async filled(): Promise<void> {
    if (this.#full || this.#pending.size > 0) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }

  /** Takes the next batch: at most `most` changes, or all reports when a server asked for them. */
  take(most: number, all: () => readonly Report[]): { full: boolean; reports: readonly Report[] } {
    if (this.#full) {
      this.#full = false
      this.#pending.clear()
      return { full: true, reports: all() }
    }
    const reports = [...this.#pending.values()].slice(0, most)
    for (const report of reports) this.#pending.delete(report.replica)
    return { full: false, reports }
  }

  /** Puts back a batch that perhaps did not arrive, except for replicas that have a newer report. */
  putBack(batch: { full: boolean; reports: readonly Report[] }): void {
    if (batch.full) this.#full = true
    for (const report of batch.reports) {
      const newer = this.#pending.get(report.replica)
      if (newer === undefined || sameReport(newer, report)) this.put(report)
    }
  }

  #wakeSender(): void {
    this.#wake?.()
    this.#wake = null
  }
}
