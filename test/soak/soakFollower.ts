import type { Rng } from '../feed/rng.ts'
import type { Frame } from '../feed/subscriber.ts'
import type { ApiClient } from '../support/drivers/apiClient.ts'
import { isCreatedIn, isGoneIn, type SoakKind, soakKinds } from './soakKinds.ts'
import type { SoakLog } from './soakLog.ts'
import { SoakStream } from './soakStream.ts'
import type { Tally } from './tally.ts'

/** A frame with all its parts. */
export interface Heard {
  readonly kind: Frame['kind']
  readonly revision: bigint
  readonly told: readonly string[]
}

/**
 * Follows events, a list or something of a service, and comes back with the revision that it has. Each frame is compared with the log:
 * whatever the servers do, everything is told once and in order, and nothing else.
 */
export class SoakFollower {
  readonly name: string
  readonly stream: SoakStream
  readonly #kind: SoakKind
  readonly #service: string
  readonly #tally: Tally
  /** Frames that were heard and not yet judged. */
  readonly #heard: Heard[] = []
  #parts: Frame[] = []
  #revision: bigint | null = null
  #judged: bigint | null = null

  /** `service`: its name, for kinds that are about one. */
  constructor(kind: keyof typeof soakKinds, service: string, clients: readonly ApiClient[], rng: Rng, tally: Tally) {
    this.#kind = soakKinds[kind]
    this.#service = service
    this.#tally = tally
    this.name = this.#kind.isOfService ? `${kind} of ${service}` : kind
    const variables = () => {
      // A frame of which not all parts came does not count.
      this.#parts = []
      const after = this.#revision === null ? null : String(this.#revision)
      return this.#kind.isOfService ? { service, after } : { after }
    }
    const take = (frame: Frame) => this.#take(frame)
    this.stream = new SoakStream({ document: this.#kind.document, variables, take }, clients, rng, tally)
  }

  /** The last revision that was judged; null: it begins anew. */
  get judged(): bigint | null {
    return this.#judged
  }

  /** Compares what was heard with the log, as far as that is known. */
  check(log: SoakLog): void {
    const unknown = this.#heard.findIndex(({ revision }) => revision > log.head)
    for (const heard of this.#heard.splice(0, unknown === -1 ? this.#heard.length : unknown)) {
      const fault = faultOf(this.#kind, this.#service, this.#judged, heard, log)
      if (fault !== null)
        this.#tally.fault(
          `A subscriber of ${this.name}: ${heard.kind} ${heard.revision} after ${this.#judged} ${fault}.`,
        )
      this.#judged = heard.kind === 'GONE' ? null : heard.revision
    }
  }

  /** What it has not heard yet. */
  missing(log: SoakLog): readonly string[] {
    if (this.#judged === null) return this.#kind.isOfService ? [] : ['everything']
    return this.#kind.expected(log, this.#service, this.#judged, log.head)
  }

  #take(frame: Frame): void {
    this.#parts.push(frame)
    if (frame['last'] === false) return
    const revision = BigInt(frame.revision)
    const { kind } = frame
    this.#heard.push({ kind, revision, told: kind === 'DELTA' ? this.#kind.told(this.#parts) : [] })
    this.#parts = []
    // Another service may come to have the name.
    this.#revision = kind === 'GONE' ? null : revision
  }
}

/** What is wrong with a frame that follows the revision `from` (null: none), or null. */
export function faultOf(
  { isOfService, expected }: SoakKind,
  service: string,
  from: bigint | null,
  { kind, revision, told }: Heard,
  log: SoakLog,
): string | null {
  if (from === null) return kind === 'SNAPSHOT' ? null : 'is the first frame'
  if (kind === 'SNAPSHOT') {
    const isNext = isOfService && isCreatedIn(log, service, from, revision)
    return isNext ? null : 'begins anew, although what was missed is kept'
  }
  if (revision < from || (kind === 'DELTA' && revision === from)) return 'goes back'
  if (kind === 'GONE') return isGoneIn(log, service, from, revision) ? null : 'is about a service that is there'
  const wanted = expected(log, service, from, revision)
  const said = kind === 'DELTA' ? told : []
  return JSON.stringify(said) === JSON.stringify(wanted)
    ? null
    : `tells ${JSON.stringify(said)}, and there was ${JSON.stringify(wanted)}`
}
