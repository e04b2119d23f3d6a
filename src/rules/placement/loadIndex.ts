import type { Candidate } from './candidate.ts'

const buckets = 1_024

/**
 * Candidates by load, the least loaded first. While a placement runs, a candidate only moves to later places and its
 * old place stays empty, so a search can remember how far it came and continue there.
 */
export class LoadIndex {
  readonly #places: (Candidate | null)[][] = Array.from({ length: buckets }, () => [])

  /** Candidates of equal load keep the order given. */
  constructor(candidates: readonly Candidate[]) {
    for (const candidate of candidates) this.#append(candidate, bucketOf(candidate))
  }

  /** Moves a candidate whose load has grown. */
  moved(candidate: Candidate): void {
    const bucket = bucketOf(candidate)
    if (bucket === candidate.bucket) return
    const old = this.#places[candidate.bucket]
    if (old !== undefined) old[candidate.position] = null
    this.#append(candidate, bucket)
  }

  /** The places of one bucket, with null where a candidate has moved away; undefined behind the last bucket. */
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
