import type { Candidate } from './candidate.ts'

const buckets = 1_024

/**
 * Candidates by load, the least loaded first. One only moves to later places while a placement runs, and its old place stays empty, so that
 * a search may remember how far it came and go on there.
 */
export class LoadIndex {
  readonly #places: (Candidate | null)[][] = Array.from({ length: buckets }, () => [])

  /** In the order given, within equal load. */
  constructor(candidates: readonly Candidate[]) {
    for (const candidate of candidates) this.#append(candidate, bucketOf(candidate))
  }

  /** After its load grew. */
  moved(candidate: Candidate): void {
    const bucket = bucketOf(candidate)
    if (bucket === candidate.bucket) return
    const old = this.#places[candidate.bucket]
    if (old !== undefined) old[candidate.position] = null
    this.#append(candidate, bucket)
  }

  /** The places of one bucket, null where one has moved away; undefined behind the last bucket. */
  at(bucket: number): readonly (Candidate | null)[] | undefined {
    return this.#places[bucket]
  }

  *[Symbol.iterator](): Generator<Candidate> {
    for (const places of this.#places) for (const candidate of places) if (candidate !== null) yield candidate
  }

  #append(candidate: Candidate, bucket: number): void {
    const places = this.#places[bucket]
    if (places === undefined)
      throw new RangeError(`Worker ${candidate.worker.id} has a load outside 0 to 1: ${candidate.load}.`)
    candidate.bucket = bucket
    candidate.position = places.length
    places.push(candidate)
  }
}

function bucketOf(candidate: Candidate): number {
  return Math.floor(candidate.load * (buckets - 1))
}
