import { bounds } from '../../model/bounds.ts'
import type { ReplicaId } from '../../model/id.ts'
import type {
  ReportedEndReason as EndReasonValue,
  ReplicaReport,
  ReportedState as StateValue,
} from '../../model/intent.ts'
import { hostNameFault } from '../../model/name.ts'
import { quoted } from '../../model/quoted.ts'
import type { RegisteringWorker } from '../../model/workerOffer.ts'
import { protocolFault, serverProtocols } from '../../model/workerProtocol.ts'
import { builder } from '../kit/builder.ts'
import { type Check, type Fault, noneLeft, type PartOf } from '../kit/check.ts'
import { enumOf } from '../kit/enumOf.ts'
import { idOf } from '../kit/globalId.ts'
import { faultOf } from '../kit/values.ts'
import { LogStream } from '../replica/replicaEnums.ts'

const messageLength = 1_000
const mostAddresses = 16

const ReportedState = enumOf<StateValue>('ReportedState', 'What a worker sees of a replica.', {
  STARTING: 'Its process is being started, or started again.',
  RUNNING: 'Its process is there.',
  ENDED: 'It has ended for good on this worker.',
})

const ReportedEndReason = enumOf<EndReasonValue>('ReportedEndReason', 'Why a replica has ended on its worker.', {
  EXITED: 'Its process ended and may not be restarted in place.',
  GAVE_UP: 'It was restarted in place as often as its restart policy allows.',
  START_FAILED: 'Its process could not be started.',
  PORT_TAKEN: 'One of its ports is used by somebody else on the host.',
  STOPPED: 'The worker stopped it, as it was told to or because it lost contact.',
})

const ReplicaReportInput = builder.inputType('ReplicaReportInput', {
  description: 'What a worker sees of one replica.',
  fields: (t) => ({
    replica: t.id({ required: true, description: 'The global id of the replica.' }),
    start: t.int({
      required: true,
      description: 'Which start of its process: 1, 2, 3 …, below 1 INVALID_INPUT; another one is not ready first.',
      check: (start) => faultUnless(start >= 1, `start is ${start}: the first one is 1.`),
    }),
    state: t.field({ type: ReportedState, required: true, description: 'How far it is.' }),
    ready: t.boolean({
      required: true,
      description: 'What the readiness probe says of this start; without a probe: the process is there.',
    }),
    endReason: t.field({ type: ReportedEndReason, description: 'Why it has ended; with ENDED.' }),
    exitCode: t.int({ description: 'The exit status; null where there is none or it was not seen.' }),
    exitSignal: t.string({ description: 'The signal that ended it, without SIG; null when none did.' }),
    message: t.string({ description: 'A sentence about it for people; what is over 1,000 characters is cut.' }),
    ports: t.intList({
      required: true,
      description: 'The ports of its assignment: a report of an earlier placement of the same replica is passed over.',
    }),
  }),
})

/** `replica` is a global id. */
export type ReportInput = typeof ReplicaReportInput.$inferInput

const PortRangeInput = builder.inputType('PortRangeInput', {
  description: 'A range of ports, both ends included.',
  fields: (t) => ({
    from: t.int({ required: true, description: 'The first, 1 to 65535.', check: within('from', bounds.port) }),
    to: t.int({ required: true, description: 'The last, from to 65535.' }),
  }),
  check: ({ from, to }) => {
    const { max } = bounds.port
    return to >= from && to <= max ? [] : [{ path: ['to'], message: `to is ${to}: give from (${from}) to ${max}.` }]
  },
})

export const RegisterWorkerInput = builder.inputType('RegisterWorkerInput', {
  description: 'A worker as it starts.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'The same over restarts; letters, digits, ".", "_" and "-", at most 253; unique.',
      check: hostName,
    }),
    host: t.string({
      required: true,
      description: 'The name of its host; letters, digits, ".", "_" and "-", at most 253.',
      check: hostName,
    }),
    addresses: t.stringList({
      required: true,
      description: `IP addresses or names of the host, the primary one first, at most ${mostAddresses}.`,
      check: addressFaults,
    }),
    cpuMillis: t.int({
      required: true,
      description: 'CPU for replicas, in thousandths of a core.',
      check: within('cpuMillis', bounds.cpuMillis),
    }),
    memoryMiB: t.int({
      required: true,
      description: 'Memory for replicas, in MiB.',
      check: within('memoryMiB', bounds.memoryMiB),
    }),
    portRange: t.field({ type: PortRangeInput, required: true, description: 'Ports for replicas.' }),
    reservedPorts: t.intList({
      description: 'Ports of the range that are not for replicas.',
      check: (ports) =>
        ports.flatMap((port, at) => within('The port', bounds.port)(port).map((fault) => ({ path: [at], ...fault }))),
    }),
    softwareVersion: t.string({
      required: true,
      description: 'Its version, for people.',
      check: (version) =>
        faultUnless(
          /^[\x20-\x7e]{0,100}$/.test(version),
          `${quoted(version)} is no version: use at most 100 printable ASCII characters.`,
        ),
    }),
    protocolVersion: t.int({
      required: true,
      description:
        "The version of this protocol that it speaks: one that the server takes, its own or the release before's, or INVALID_INPUT.",
      check: (version) => faultOf(protocolFault(version, serverProtocols)),
    }),
    running: t.field({ type: [ReplicaReportInput], required: true, description: 'Everything that it still runs.' }),
    stateDirectoryId: t.string({
      required: true,
      description:
        'The id of its state directory, 1 to 100 printable ASCII characters, hard to guess: the same one again is a restart of the same worker. With another one a name that a worker has is refused until that worker is LOST.',
      check: (id) =>
        faultUnless(
          /^[\x20-\x7e]{1,100}$/.test(id),
          `${quoted(id)} is no id of a state directory: use 1 to 100 printable ASCII characters.`,
        ),
    }),
    registrationNumber: t.int({
      required: true,
      description:
        'Which registration of its state directory this is, from 1, below that INVALID_INPUT: each has a higher number than all that were sent before, so that one which a server takes late is OVERTAKEN.',
      check: (number) =>
        faultUnless(number >= 1, `registrationNumber is ${number}: the first one is 1, and each later one is higher.`),
    }),
  }),
})

/** A worker as it tells of itself. What it runs is apart from that. */
export function registeringOf(input: Omit<typeof RegisterWorkerInput.$inferInput, 'running'>): RegisteringWorker {
  const worker: PartOf<RegisteringWorker, typeof input> = input
  return { ...worker, reservedPorts: worker.reservedPorts ?? [] }
}

export const RenewLeaseInput = builder.inputType('RenewLeaseInput', {
  description: 'A registration whose lease goes on.',
  fields: (t) => ({
    worker: t.id({ required: true, description: 'The global id of the worker.' }),
    epoch: t.int({ required: true, description: 'Of its registration.' }),
  }),
})

export const ReportReplicasInput = builder.inputType('ReportReplicasInput', {
  description: 'What changed on a worker.',
  fields: (t) => ({
    worker: t.id({ required: true, description: 'The global id of the worker.' }),
    epoch: t.int({ required: true, description: 'Of its registration.' }),
    sequence: t.int({
      required: true,
      description:
        'Grows with each message of a registration, from 1, below that INVALID_INPUT; what was overtaken is ignored.',
      check: (sequence) =>
        faultUnless(
          sequence >= 1,
          `sequence is ${sequence}: the first message of a registration is 1, and each later one has a higher number.`,
        ),
    }),
    full: t.boolean({ required: true, defaultValue: false, description: 'Whether this is everything that it runs.' }),
    reports: t.field({ type: [ReplicaReportInput], required: true, description: 'The replicas.' }),
  }),
})

const LogMarkInput = builder.inputType('LogMarkInput', {
  description: 'Says of a line, and of those after it, when the worker saw it.',
  fields: (t) => ({
    stream: t.field({ type: LogStream, required: true, description: 'The stream.' }),
    line: t.int({ required: true, description: 'The index of the line in the answer, from 0.' }),
    at: t.field({ type: 'DateTime', description: 'When the worker first saw it; null: it does not know.' }),
    start: t.int({ description: 'The start that wrote it; null: it does not know.' }),
  }),
})

const LogStartInput = builder.inputType('LogStartInput', {
  description: 'A start of the replica.',
  fields: (t) => ({
    start: t.int({ required: true, description: 'Its number.' }),
    at: t.field({ type: 'DateTime', required: true, description: 'When it began.' }),
  }),
})

export const AnswerLogRequestInput = builder.inputType('AnswerLogRequestInput', {
  description: 'The answer to a log request of assignmentsChanged.',
  fields: (t) => ({
    worker: t.id({ required: true, description: 'The global id of the worker.' }),
    epoch: t.int({ required: true, description: 'Of its registration.' }),
    request: t.id({ required: true, description: 'The id of the request.' }),
    stdout: t.stringList({ required: true, description: 'The last lines of standard output, oldest first.' }),
    stderr: t.stringList({ required: true, description: 'The last lines of standard error, oldest first.' }),
    truncated: t.boolean({ required: true, description: 'Whether there was more.' }),
    marks: t.field({ type: [LogMarkInput], required: true, description: 'When the lines came, in their order.' }),
    starts: t.field({ type: [LogStartInput], required: true, description: 'The starts, oldest first.' }),
  }),
})

const hostName: Check<string> = (name) => faultOf(hostNameFault(name))

function addressFaults(addresses: readonly string[]): Fault[] {
  const tooMany = `There are ${addresses.length} addresses: at most ${mostAddresses} are allowed.`
  return [
    ...faultUnless(addresses.length <= mostAddresses, tooMany),
    ...addresses.flatMap((text, at) =>
      /^[0-9A-Za-z.:%_-]{1,253}$/.test(text)
        ? []
        : [{ path: [at], message: `${quoted(text)} is no IP address and no host name.` }],
    ),
  ]
}

function within(what: string, { min, max }: { readonly min: number; readonly max: number }): Check<number> {
  return (value) => faultUnless(value >= min && value <= max, `${what} is ${value}: give ${min} to ${max}.`)
}

function faultUnless(isRight: boolean, sentence: string): Fault[] {
  return faultOf(isRight ? null : sentence)
}

/** A report as the rules take it; null when its id is no replica's. */
export function reportOf(input: ReportInput): ReplicaReport | null {
  const { replica, start, state, ready, endReason, exitCode, exitSignal, message, ports, ...rest } = input
  noneLeft(rest)
  const id = idOf('Replica', replica)
  if (id === null) return null
  return {
    replica: id as ReplicaId,
    start,
    state,
    ready,
    endReason: endReason ?? null,
    exitCode: exitCode ?? null,
    exitSignal: textOf(exitSignal, 32),
    message: textOf(message, messageLength),
    ports,
  }
}

/** Cut, and without what the database can't hold: NUL, and half of a character that the cut may have left. */
function textOf(text: string | null | undefined, most: number): string | null {
  return text === null || text === undefined ? null : text.slice(0, most).replaceAll(/[\0\p{Cs}]/gu, '')
}
