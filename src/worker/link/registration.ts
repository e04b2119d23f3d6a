import type { Logger } from 'pino'
import type { WorkerOffer } from '../../model/workerOffer.ts'
import { type LeaseTerms, workerProtocolVersion } from '../../model/workerProtocol.ts'
import type { Report } from '../assignment.ts'
import type { WorkerSettings } from '../settings/settings.ts'
import type { Failure, RegisterWorkerData, RegisterWorkerInput } from './api.ts'
import { registerWorker } from './api.ts'
import { type Connection, RefusedError } from './connection.ts'
import { nextRegistrationNumber } from './registrationNumber.ts'

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
  const answer = await send(connection, settings.stateDirectory, input, log)
  const { worker, epoch, leaseSeconds, graceSeconds, stop } = payload(answer)
  log.info({ worker: worker.id, epoch, leaseSeconds, running: running.length, stale: stop.length }, 'registered')
  return { registration: { worker: worker.id, epoch, leaseSeconds, graceSeconds }, stop }
}

/** A server of before takes no number. One that knows of a higher number tells it: then once more, above that. */
async function send(
  connection: Connection,
  stateDirectory: string,
  input: RegisterWorkerInput,
  log: Logger,
): Promise<RegisterWorkerData['registerWorker']> {
  const isNumbered = connection.greeting.registrationNumbers === true
  const ask = async (above: number): Promise<RegisterWorkerData['registerWorker']> => {
    const number = isNumbered ? { registrationNumber: nextRegistrationNumber(stateDirectory, above, log) } : {}
    const variables = { input: { ...input, ...number } }
    return (await connection.request<RegisterWorkerData>(registerWorker(isNumbered), variables, 30_000)).registerWorker
  }
  const answer = await ask(0)
  if (answer.__typename !== 'OvertakenError' || answer.newest === undefined) return answer
  log.warn(
    { newest: answer.newest },
    'the servers know of later registrations of this state directory than it does: it is an old copy, or a copy of it is used elsewhere',
  )
  return ask(answer.newest)
}
