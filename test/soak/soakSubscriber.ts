import type { EndpointAddress } from '../../src/model/endpoint.ts'
import { type EndpointFrame, EndpointRecord, endpointDocument } from '../feed/endpointRecord.ts'
import type { Rng } from '../feed/rng.ts'
import type { ApiClient } from '../support/drivers/apiClient.ts'
import { SoakStream } from './soakStream.ts'
import type { Tally } from './tally.ts'

/** Follows one endpoint, and comes back with the revision that it has. */
export class SoakSubscriber {
  readonly record: EndpointRecord
  readonly stream: SoakStream
  readonly #tally: Tally

  constructor(service: string, includeNotReady: boolean, clients: readonly ApiClient[], rng: Rng, tally: Tally) {
    const record = new EndpointRecord(service, { port: null, includeNotReady })
    this.record = record
    this.#tally = tally
    const variables = () => {
      const after = record.revision === null ? null : String(record.revision)
      return { service, includeNotReady, after }
    }
    const take = (frame: object) => record.take(frame as EndpointFrame, true)
    this.stream = new SoakStream({ document: endpointDocument, variables, take }, clients, rng, tally)
  }

  /** Compares what was seen up to `revision` with what was so. */
  check(tableAt: (service: string, revision: bigint) => readonly EndpointAddress[], revision: bigint): void {
    const { record } = this
    const known = record.frames.findIndex((frame) => frame.revision > revision)
    const faults: string[] = []
    record.check((at) => tableAt(record.service, at), faults, known === -1 ? record.frames.length : known)
    for (const fault of faults) this.#tally.fault(`A subscriber of ${fault}.`)
  }
}
