import type { Logger } from 'pino'
import type { WatchedPort } from '../../model/watchedPort.ts'
import type { WorkerOffer } from '../../model/workerOffer.ts'
import { type LeaseTerms, workerProtocolVersion } from '../../model/workerProtocol.ts'
import type { Report } from '../assignment.ts'
import type { WorkerSettings } from '../settings/settings.ts'
import type { Failure, RegisterWorkerData, RegisterWorkerInput } from './api.ts'
import { registerWorker } from './api.ts'
import { type Connection, RefusedError } from './connection.ts'
import { nextRegistrationNumber } from './registrationNumber.ts'

/** Identifies this worker to the servers until it is fenced. The last connected server set lease and grace. */
export interface Registration extends LeaseTerms {
  readonly worker: string
  readonly epoch: number
}

/** The payload of an answer. Throws RefusedError when the answer is an error. */
export function payload<Payload extends { readonly __typename: string }>(answer: Payload | Failure): Payload {
  if ('code' in answer && 'message' in answer) throw new RefusedError(answer.code, sentenceOf(answer))
  return answer
}

/** One sentence for each field that is wrong, or the message when the error names no field. */
function sentenceOf({ message, issues }: Failure): string {
  return issues === undefined || issues.length === 0 ? message : issues.map((issue) => issue.message).join(' ')
}

/** Registers the worker. `stop` names the replicas that no longer belong to it, `portsToWatch` what its host's replicas wait for. */
export async function register(
  connection: Connection,
  settings: WorkerSettings,
  { softwareVersion, stateDirectoryId }: { readonly softwareVersion: string; readonly stateDirectoryId: string },
  running: readonly Report[],
  log: Logger,
): Promise<{
  registration: Registration
  stop: readonly string[]
  portsToWatch: readonly WatchedPort[]
}> {
  const { name, host, addresses, cpuMillis, memoryMiB, portRange, reservedPorts } = settings
  const offer: WorkerOffer = { name, host, addresses, cpuMillis, memoryMiB, portRange, reservedPorts }
  const input: Unnumbered = {
    ...offer,
    softwareVersion,
    protocolVersion: workerProtocolVersion,
    running,
    stateDirectoryId,
  }
  const answer = await sendRegistration(connection, settings.stateDirectory, input, log)
  const { worker, epoch, leaseSeconds, graceSeconds, stop, portsToWatch } = payload(answer)
  log.info({ worker, epoch, leaseSeconds, running: running.length, stale: stop.length }, 'registered')
  return { registration: { worker, epoch, leaseSeconds, graceSeconds }, stop, portsToWatch }
}

type Unnumbered = Omit<RegisterWorkerInput, 'registrationNumber'>

/** A server that knows a higher number returns it; then the worker registers once more with a number above that. */
async function sendRegistration(
  connection: Connection,
  stateDirectory: string,
  input: Unnumbered,
  log: Logger,
): Promise<RegisterWorkerData['registerWorker']> {
  const request = async (above: number): Promise<RegisterWorkerData['registerWorker']> => {
    const registrationNumber = nextRegistrationNumber(stateDirectory, above, log)
    const variables: { readonly input: RegisterWorkerInput } = { input: { ...input, registrationNumber } }
    return (await connection.request<RegisterWorkerData>(registerWorker, variables, 30_000)).registerWorker
  }
  const answer = await request(0)
  if (answer.__typename !== 'OvertakenError' || answer.newest === undefined) return answer
  log.warn(
    { newest: answer.newest },
    'the servers know later registrations of this state directory than the directory itself: it is an old copy, or a copy of it is used elsewhere',
  )
  return request(answer.newest)
}
