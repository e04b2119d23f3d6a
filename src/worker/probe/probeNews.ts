import type { ProbeKind, ReportedProbe } from '../../model/lastProbe.ts'

/** Failures within the first seconds of a start are no news: most programs are ready after that. */
const quietSeconds = 5
/** So many reports may follow each other; after them there is one in `secondsPerReport`. */
const mostReportsAtOnce = 4
const secondsPerReport = 60
const mostCharacters = 300

/** A failing probe is told before one that succeeds, and the one that ends the process first. */
const order = ['LIVENESS', 'STARTUP', 'READINESS'] as const

interface Run {
  readonly ok: boolean
  /** The failure, or what is to be known of a success. */
  readonly message: string | null
  readonly since: number
  readonly count: number
}

export interface ProbeNewsOptions {
  /** How long the process has been running already. */
  readonly ageSeconds: number
  /** What an earlier worker has told of this start. */
  readonly told: ReportedProbe | null
  readonly onNews: (probe: ReportedProbe) => void
  /** In milliseconds. */
  readonly clock?: () => number
}

/**
 * Decides which results of the probes of one start are told: a failure, another failure, its end, and a failure that goes
 * on at its 2nd, 4th, 8th … time. A probe that changes its mind all the time is told now and then only.
 */
export class ProbeNews {
  readonly #onNews: (probe: ReportedProbe) => void
  readonly #clock: () => number
  readonly #bornAt: number
  readonly #runs = new Map<ProbeKind, Run>()
  #told: ReportedProbe | null
  #credit = mostReportsAtOnce
  #creditAt: number

  constructor({ ageSeconds, told, onNews, clock = () => performance.now() }: ProbeNewsOptions) {
    this.#onNews = onNews
    this.#clock = clock
    this.#told = told
    this.#creditAt = clock()
    this.#bornAt = this.#creditAt - ageSeconds * 1_000
  }

  /** Takes a result: its failure, or null and a note of what is to be known of the success. */
  add(kind: ProbeKind, failure: string | null, note: string | null = null): void {
    const ok = failure === null
    const message = (failure ?? note)?.slice(0, mostCharacters) ?? null
    const known = this.#runs.get(kind)
    const isSame = known !== undefined && known.ok === ok && known.message === message
    this.#runs.set(kind, {
      ok,
      message,
      since: isSame ? known.since : this.#clock(),
      count: isSame ? known.count + 1 : 1,
    })
  }

  /** The last result of this probe, to be told with a report that is sent in any case. */
  take(kind: ProbeKind): ReportedProbe | null {
    this.#told = this.#lastOf(kind) ?? this.#told
    return this.#told
  }

  /**
   * Tells what is news after a result of this probe, if it is time. A failure is told with a result of its own probe
   * only: another probe may have seen that the program is there now.
   */
  tell(kind: ProbeKind): void {
    const latest = this.#latest()
    if (latest === null || (!latest.ok && latest.kind !== kind)) return
    if (!this.#isNews(latest) || !this.#pay()) return
    this.#told = latest
    this.#onNews(latest)
  }

  #latest(): ReportedProbe | null {
    const kind =
      order.find((name) => this.#runs.get(name)?.ok === false) ??
      [...order].reverse().find((name) => this.#runs.has(name))
    return kind === undefined ? null : this.#lastOf(kind)
  }

  #lastOf(kind: ProbeKind): ReportedProbe | null {
    const run = this.#runs.get(kind)
    if (run === undefined) return null
    const { ok, message, count, since } = run
    return { kind, ok, message, count, seconds: Math.floor((this.#clock() - since) / 1_000) }
  }

  #isNews(latest: ReportedProbe): boolean {
    const told = this.#told
    if (latest.ok) return told?.ok === false
    if (this.#clock() - this.#bornAt < quietSeconds * 1_000) return false
    const isSame = told?.ok === false && told.kind === latest.kind && told.message === latest.message
    return !isSame || latest.count >= 2 * (told?.count ?? 0)
  }

  #pay(): boolean {
    const now = this.#clock()
    const earned = (now - this.#creditAt) / 1_000 / secondsPerReport
    this.#credit = Math.min(mostReportsAtOnce, this.#credit + earned)
    this.#creditAt = now
    if (this.#credit < 1) return false
    this.#credit -= 1
    return true
  }
}
