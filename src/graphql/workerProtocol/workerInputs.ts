import { bounds } from '../../model/bounds.ts'
import type { ReplicaId } from '../../model/id.ts'
import type {
  ReportedEndReason as EndReasonValue,
  ReplicaReport,
  ReportedState as StateValue,
} from '../../model/intent.ts'
import { hostNameFault } from '../../model/name.ts'
import { quoted } from '../../model/quoted.ts'
import type { LogState as LogStateValue } from '../../model/replicaLog.ts'
import { mostWatchedPorts } from '../../model/watchedPort.ts'
import type { RegisteringWorker } from '../../model/workerOffer.ts'
import { protocolFault, serverProtocols } from '../../model/workerProtocol.ts'
import { PortProtocol } from '../content/content.ts'
import { ProbeKind } from '../content/lastProbe.ts'
import { builder } from '../kit/builder.ts'
import { type Check, type Fault, noneLeft, type PartOf } from '../kit/check.ts'
import { enumOf } from '../kit/enumOf.ts'
import { idOf } from '../kit/globalId.ts'
import { faultOf } from '../kit/values.ts'
import { LogStream } from '../replica/replicaEnums.ts'

const messageLength = 1_000
const probeMessageLength = 300
const mostAddresses = 16

const ReportedState = enumOf<StateValue>('ReportedState', 'What a worker sees of a replica.', {
  STARTING: 'Its process is being started, or started again.',
  RUNNING: 'Its process runs.',
  ENDED: 'It has ended for good on this worker.',
})

const ReportedEndReason = enumOf<EndReasonValue>('ReportedEndReason', 'Why a replica has ended on its worker.', {
  COMPLETED: 'Its process ended with exit code 0 of its own accord, and its restart policy lets that be its end.',
  EXITED: 'Its process ended and may not be restarted in place.',
  GAVE_UP: 'It was restarted in place as often as its restart policy allows.',
  START_FAILED: 'Its process could not be started.',
  PORT_TAKEN: 'One of its ports is used by somebody else on the host.',
  STOPPED: 'The worker stopped it, as it was told to or because it lost contact.',
})

const ProbeReportInput = builder.inputType('ProbeReportInput', {
  description: 'The last result of a probe of the current start; equal ones in a row are one.',
  fields: (t) => ({
    kind: t.field({ type: ProbeKind, required: true, description: 'Which probe.' }),
    ok: t.boolean({ required: true, description: 'Whether it succeeded.' }),
    message: t.string({
      description: `What is wrong, as a part of a sentence; what is over ${probeMessageLength} characters is cut.`,
    }),
    count: t.int({
      required: true,
      description: 'How many equal results there were in a row: 1, 2, 3 …, below 1 INVALID_INPUT.',
      check: (count) => faultUnless(count >= 1, `count is ${count}: the first result is 1.`),
    }),
    seconds: t.int({
      required: true,
      description: 'How many seconds ago the first of them was, below 0 INVALID_INPUT.',
      check: (seconds) => faultUnless(seconds >= 0, `seconds is ${seconds}: what has just happened is 0.`),
    }),
  }),
})

const ReplicaReportInput = builder.inputType('ReplicaReportInput', {
  description: 'What a worker sees of one replica.',
  fields: (t) => ({
    replica: t.id({ required: true, description: 'The global id of the replica.' }),
    start: t.int({
      required: true,
      description: 'The number of the start of its process, from 1. A new start is not ready at first.',
      check: (start) => faultUnless(start >= 1, `start is ${start}: the first one is 1.`),
    }),
    state: t.field({ type: ReportedState, required: true, description: 'Its state.' }),
    ready: t.boolean({
      required: true,
      description: 'Whether the readiness probe of this start succeeds; without a probe, whether the process runs.',
    }),
    probe: t.field({
      type: ProbeReportInput,
      description:
        'The last results of the probes of this start. Null means that earlier reports of them are still true.',
    }),
    endReason: t.field({ type: ReportedEndReason, description: 'Why it has ended; given with ENDED.' }),
    exitCode: t.int({
      description:
        'The exit status of this start when it has ENDED, otherwise of the start before it; null when there is none or it was not seen.',
    }),
    exitSignal: t.string({ description: 'The signal that ended that process, without SIG; null when none did.' }),
    message: t.string({
      description: 'A sentence for people that says how or why that process ended. It is cut to 1,000 characters.',
    }),
    ports: t.intList({
      required: true,
      description: 'The ports of its assignment. A report about an earlier placement of the same replica is ignored.',
    }),
    takenPorts: t.stringList({
      required: true,
      defaultValue: [],
      description:
        'With PORT_TAKEN the names of the ports that something else uses, otherwise empty. Only these go into quarantine; PORT_TAKEN without a name is taken for all of its ports.',
      check: (names) =>
        faultUnless(
          names.length <= bounds.ports.max,
          `There are ${names.length} takenPorts: a replica has at most ${bounds.ports.max} ports.`,
        ),
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
  description: 'A worker that starts.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'A unique name that stays the same over restarts, of at most 253 letters, digits, ".", "_" and "-".',
      check: hostName,
    }),
    host: t.string({
      required: true,
      description: 'The name of its host, of at most 253 letters, digits, ".", "_" and "-".',
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
      description: 'Ports of the range that no replica may get.',
      check: (ports) =>
        ports.flatMap((port, at) => within('The port', bounds.port)(port).map((fault) => ({ path: [at], ...fault }))),
    }),
    softwareVersion: t.string({
      required: true,
      description: "The worker's software version, for people.",
      check: (version) =>
        faultUnless(
          /^[\x20-\x7e]{0,100}$/.test(version),
          `${quoted(version)} is no version: use at most 100 printable ASCII characters.`,
        ),
    }),
    protocolVersion: t.int({
      required: true,
      description:
        'The version of this protocol that it speaks. The server takes its own version and that of the release before it; INVALID_INPUT for any other.',
      check: (version) => faultOf(protocolFault(version, serverProtocols)),
    }),
    running: t.field({
      type: [ReplicaReportInput],
      required: true,
      description: 'Everything that the worker still runs.',
    }),
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
        'The number of this registration of its state directory, from 1. Each registration has a higher number than all earlier ones, so the server can answer OVERTAKEN to one that arrives late.',
      check: (number) =>
        faultUnless(number >= 1, `registrationNumber is ${number}: the first one is 1, and each later one is higher.`),
    }),
  }),
})

/** A worker's description of itself, without the replicas that it runs. */
export function registeringOf(input: Omit<typeof RegisterWorkerInput.$inferInput, 'running'>): RegisteringWorker {
  const worker: PartOf<RegisteringWorker, typeof input> = input
  return { ...worker, reservedPorts: worker.reservedPorts ?? [] }
}

export const RenewLeaseInput = builder.inputType('RenewLeaseInput', {
  description: 'The registration whose lease to renew.',
  fields: (t) => ({
    worker: t.id({ required: true, description: 'The global id of the worker.' }),
    epoch: t.int({ required: true, description: 'The epoch that registerWorker returned.' }),
  }),
})

export const ReportReplicasInput = builder.inputType('ReportReplicasInput', {
  description: 'What changed on a worker.',
  fields: (t) => ({
    worker: t.id({ required: true, description: 'The global id of the worker.' }),
    epoch: t.int({ required: true, description: 'The epoch that registerWorker returned.' }),
    sequence: t.int({
      required: true,
      description:
        'A number from 1 that grows with each message of a registration. The server ignores a message that a later one has overtaken.',
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

const FreePortInput = builder.inputType('FreePortInput', {
  description: 'A port that is free again.',
  fields: (t) => ({
    port: t.int({ required: true, description: 'Its number, 1 to 65535.', check: within('port', bounds.port) }),
    protocol: t.field({ type: PortProtocol, required: true, description: 'TCP or UDP.' }),
  }),
})

export const ReportFreePortsInput = builder.inputType('ReportFreePortsInput', {
  description: 'Ports of a worker’s host that are free again.',
  fields: (t) => ({
    worker: t.id({ required: true, description: 'The global id of the worker.' }),
    epoch: t.int({ required: true, description: 'The epoch that registerWorker returned.' }),
    ports: t.field({
      type: [FreePortInput],
      required: true,
      description: `Ports that it was told to watch and could bind, 1 to ${mostWatchedPorts}.`,
      check: (ports) =>
        faultUnless(
          ports.length >= 1 && ports.length <= mostWatchedPorts,
          `There are ${ports.length} ports: give 1 to ${mostWatchedPorts}.`,
        ),
    }),
  }),
})

const LogState = enumOf<LogStateValue>('LogState', "What a worker says of a replica's log.", {
  OPEN: 'There may be more, now or later.',
  ENDED: 'The replica has ended on this worker, and the answer has all of it.',
  NONE: 'The worker has no log of the replica.',
})

const LogRunInput = builder.inputType('LogRunInput', {
  description: 'Lines that follow each other in a stream, which the worker saw at the same instant.',
  fields: (t) => ({
    stream: t.field({ type: LogStream, required: true, description: 'The stream.' }),
    at: t.field({ type: 'DateTime', description: 'When the worker saw them; null when it does not know.' }),
    start: t.int({ description: 'The start that wrote them; null when the worker does not know.' }),
    lines: t.stringList({ required: true, description: 'The lines, without their line breaks.' }),
    cut: t.boolean({ required: true, description: 'Whether the last line goes on.' }),
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
    epoch: t.int({ required: true, description: 'The epoch that registerWorker returned.' }),
    request: t.id({ required: true, description: 'The id of the request.' }),
    state: t.field({ type: LogState, required: true, description: 'Whether there can be more.' }),
    runs: t.field({ type: [LogRunInput], required: true, description: 'The lines of both streams, oldest first.' }),
    starts: t.field({ type: [LogStartInput], required: true, description: 'The starts, oldest first.' }),
    truncated: t.boolean({ required: true, description: 'Whether there was more.' }),
    skippedBytes: t.float({ required: true, description: 'Bytes after the position that are not kept any more.' }),
    position: t.string({ required: true, description: 'The position after the answer.' }),
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

/** Returns a report as the rules take it; null when its id is not a replica's. */
export function reportOf(input: ReportInput): ReplicaReport | null {
  const { replica, start, state, ready, endReason, exitCode, exitSignal, message, probe, ports, takenPorts, ...rest } =
    input
  noneLeft(rest)
  const id = idOf('Replica', replica)
  if (id === null) return null
  return {
    replica: id as ReplicaId,
    start,
    state,
    ready,
    probe: probe ? { ...probe, message: textOf(probe.message, probeMessageLength) } : null,
    endReason: endReason ?? null,
    exitCode: exitCode ?? null,
    exitSignal: textOf(exitSignal, 32),
    message: textOf(message, messageLength),
    ports,
    takenPorts,
  }
}

/**
 * Cuts a worker's text, and removes what would spoil a line: control characters, marks that turn the direction of
 * writing, and half of a character that the cut may have left.
 */
function textOf(text: string | null | undefined, most: number): string | null {
  return text === null || text === undefined
    ? null
    : text
        .slice(0, most)
        .replaceAll(/\p{Cc}+/gu, ' ')
        .replaceAll(/[\p{Cs}\u202a-\u202e\u2066-\u2069]/gu, '')
        .trim()
}
