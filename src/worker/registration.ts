import type { Logger } from 'pino'
import type { WorkerOffer } from '../model/workerOffer.ts'
import { type LeaseTerms, workerProtocolVersion } from '../model/workerProtocol.ts'
import type { Failure, RegisterWorkerData, RegisterWorkerInput } from './api.ts'
import { registerWorker } from './api.ts'
import type { Report } from './assignment.ts'
import { type Connection, RefusedError } from './connection.ts'
import type { WorkerSettings } from './settings.ts'

/** What a server knows this worker by, until it is fenced. Lease and grace are those of the server that was reached last. */
export interface Registration extends LeaseTerms {
  readonly worker: string
  readonly epoch: number
}

/** An answer's payload; a failure that the server answered is thrown as RefusedError with its code. */
export function payload<Payload extends { readonly __typename: string }>(answer: Payload | Failure): Payload {
  if ('code' in answer && 'message' in answer) throw new RefusedError(answer.code, sentenceOf(answer))
  return answer
}

/** What is wrong, one sentence a field; the message alone where no field is named. */
function sentenceOf({ message, issues }: Failure): string {
  return issues === undefined || issues.length === 0 ? message : issues.map((issue) => issue.message).join(' ')
}

/** Registers, and tells which of this worker's replicas are stale. */
export async function register(
  connection: Connection,
  settings: WorkerSettings,
  { softwareVersion, instance }: { readonly softwareVersion: string; readonly instance: string },
  running: readonly Report[],
  log: Logger,
): Promise<{ registration: Registration; stop: readonly string[] }> {
  const { name, host, addresses, cpuMillis, memoryMiB, portRange, reservedPorts } = settings
  const offer: WorkerOffer = { name, host, addresses, cpuMillis, memoryMiB, portRange, reservedPorts }
  const input: RegisterWorkerInput = {
    ...offer,
    softwareVersion,
    protocolVersion: workerProtocolVersion,
    running,
    instance,
  }
  const answer = await connection.request<RegisterWorkerData>(registerWorker, { input }, 30_000)
  const { worker, epoch, leaseSeconds, graceSeconds, stop } = payload(answer.registerWorker)
  log.info({ worker: worker.id, epoch, leaseSeconds, running: running.length, stale: stop.length }, 'registered')
  return { registration: { worker: worker.id, epoch, leaseSeconds, graceSeconds }, stop }
}
