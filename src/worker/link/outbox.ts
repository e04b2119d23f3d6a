import type { ReplicaName, Report } from '../assignment.ts'
import { sameReport } from '../assignment.ts'

/** What is to be said to the server: the latest state of each replica that changed, in the order of the changes. */
export class Outbox {
  readonly #pending = new Map<ReplicaName, Report>()
  #full = false
  #wake: (() => void) | null = null

  /** A replica changed. An earlier, unsent report of it is not sent any more: reports tell what is, not what was. */
  put(report: Report): void {
    this.#pending.delete(report.replica)
    this.#pending.set(report.replica, report)
    this.#notify()
  }

  /** The server wants everything once. */
  askForAll(): void {
    this.#full = true
    this.#notify()
  }

  /** A new registration has told the server all; what follows it is new. */
  reset(reports: readonly Report[]): void {
    this.#pending.clear()
    this.#full = false
    for (const report of reports) this.#pending.set(report.replica, report)
    this.#notify()
  }

  /** Resolves as soon as there is something to say. */
  async filled(): Promise<void> {
    if (this.#full || this.#pending.size > 0) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }

  /** What to send now: at most `most` changes, or everything when the server asked for it. */
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

  /** A batch was perhaps not taken: it is said again, where nothing newer was said since. */
  putBack(batch: { full: boolean; reports: readonly Report[] }): void {
    if (batch.full) this.#full = true
    for (const report of batch.reports) {
      const newer = this.#pending.get(report.replica)
      if (newer === undefined || sameReport(newer, report)) this.put(report)
    }
  }

  #notify(): void {
    this.#wake?.()
    this.#wake = null
  }
}
