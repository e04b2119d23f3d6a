import { bounds } from '../../model/bounds.ts'
import { defaultContent, defaultProbe, defaultSettings } from '../../rules/service/defaults.ts'
import { LostContact, PortProtocol } from '../content/content.ts'
import { SpreadMode } from '../content/settings.ts'
import { builder } from '../kit/builder.ts'
import { EnvironmentVariableInput, keyDescription } from '../kit/inputFields.ts'

const range = ({ min, max }: { readonly min: number; readonly max: number }) => `${min} to ${max}`

const PortInput = builder.inputType('PortInput', {
  description: 'A port that each replica needs.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: `A DNS label of at most ${bounds.portNameLength} characters, unique in the profile.`,
    }),
    port: t.int({ description: `A fixed number, ${range(bounds.port)}; null: any free one of the host.` }),
    protocol: t.field({ type: PortProtocol, defaultValue: 'TCP', description: 'TCP or UDP.' }),
  }),
})

const HttpProbeInput = builder.inputType('HttpProbeInput', {
  description: 'A GET that has to be answered with a status from 200 to 399.',
  fields: (t) => ({
    port: t.string({ required: true, description: 'The name of a declared TCP port.' }),
    path: t.string({
      required: true,
      defaultValue: '/',
      description: `The path, beginning with "/", at most ${bounds.pathLength} characters.`,
    }),
  }),
})

const TcpProbeInput = builder.inputType('TcpProbeInput', {
  description: 'A TCP connection that has to open.',
  fields: (t) => ({ port: t.string({ required: true, description: 'The name of a declared TCP port.' }) }),
})

const ExecProbeInput = builder.inputType('ExecProbeInput', {
  description: 'A command that has to end with status 0.',
  fields: (t) => ({
    command: t.stringList({ required: true, description: 'The program and its arguments; no shell.' }),
  }),
})

const ProbeInput = builder.inputType('ProbeInput', {
  description: 'A probe: exactly one of http, tcp and exec.',
  fields: (t) => ({
    http: t.field({ type: HttpProbeInput, description: 'Ask by HTTP.' }),
    tcp: t.field({ type: TcpProbeInput, description: 'Open a connection.' }),
    exec: t.field({ type: ExecProbeInput, description: 'Run a command.' }),
    initialDelaySeconds: t.int({
      description: `Seconds before the first probe, ${range(bounds.probeInitialDelaySeconds)}; ${defaultProbe.initialDelaySeconds} when left out.`,
    }),
    periodSeconds: t.int({
      description: `Seconds between two probes, ${range(bounds.probePeriodSeconds)}; ${defaultProbe.periodSeconds} when left out.`,
    }),
    timeoutSeconds: t.int({
      description: `Seconds until a probe has failed, ${range(bounds.probeTimeoutSeconds)}; ${defaultProbe.timeoutSeconds} when left out.`,
    }),
    failureThreshold: t.int({
      description: `Failures in a row that make it fail, ${range(bounds.probeThreshold)}; ${defaultProbe.failureThreshold} when left out.`,
    }),
    successThreshold: t.int({
      description: `Successes in a row that make it succeed, ${range(bounds.probeThreshold)}; ${defaultProbe.successThreshold} when left out.`,
    }),
  }),
})

const RestartPolicyInput = builder.inputType('RestartPolicyInput', {
  description: 'Restarts in place.',
  fields: (t) => ({
    maxAttempts: t.int({
      description: `Restarts within the window, ${range(bounds.restartAttempts)}; ${defaultContent.restart.maxAttempts} when left out, 0: never.`,
    }),
    windowSeconds: t.int({
      description: `The window in seconds, ${range(bounds.restartWindowSeconds)}; ${defaultContent.restart.windowSeconds} when left out.`,
    }),
    delaySeconds: t.int({
      description: `Seconds before each restart but the first, which is at once, ${range(bounds.restartDelaySeconds)}; ${defaultContent.restart.delaySeconds} when left out.`,
    }),
  }),
})

const StopPolicyInput = builder.inputType('StopPolicyInput', {
  description: 'How replicas are stopped.',
  fields: (t) => ({
    signal: t.string({
      description: `TERM, INT, QUIT, HUP, USR1, USR2, WINCH, ABRT, ALRM or KILL, with or without SIG; ${defaultContent.stop.signal} when left out.`,
    }),
    drainSeconds: t.int({
      description: `Seconds between leaving the endpoint and the signal, ${range(bounds.drainSeconds)}; ${defaultContent.stop.drainSeconds} when left out.`,
    }),
    graceSeconds: t.int({
      description: `Seconds between the signal and SIGKILL, ${range(bounds.graceSeconds)}; ${defaultContent.stop.graceSeconds} when left out.`,
    }),
    onLostContact: t.field({
      type: LostContact,
      description: `What a worker does that cannot reach a server; ${defaultContent.stop.onLostContact} when left out.`,
    }),
  }),
})

const SpreadInput = builder.inputType('SpreadInput', {
  description: 'How replicas are spread over hosts.',
  fields: (t) => ({
    mode: t.field({ type: SpreadMode, required: true, description: 'NONE, BEST_EFFORT or STRICT.' }),
    maxPerHost: t.int({
      defaultValue: 1,
      description: `Alive replicas of the service per host, ${range(bounds.maxPerHost)}.`,
    }),
  }),
})

const IntOrPercent = builder.inputType('IntOrPercent', {
  isOneOf: true,
  description: 'A number of replicas: exactly one of the two.',
  fields: (t) => ({
    count: t.int({ description: `Replicas, ${range(bounds.limitCount)}.` }),
    percent: t.int({ description: `Percent of the desired replicas, ${range(bounds.percent)}.` }),
  }),
})

export const RolloutSettingsInput = builder.inputType('RolloutSettingsInput', {
  description:
    'How a rollout moves. maxSurge and maxUnavailable may not both be 0. What is left out is: in a profile and a new service as each field says or the profile has it; in an update that makes a new version as the profile has it, in one of settings only as it was.',
  fields: (t) => ({
    maxSurge: t.field({
      type: IntOrPercent,
      description:
        'Replicas above the desired ones, rounded up; 25 % when left out, 0 with a fixed port or STRICT spread.',
    }),
    maxUnavailable: t.field({
      type: IntOrPercent,
      description: 'Desired replicas that may be unavailable, rounded down; 25 % when left out.',
    }),
    minReadySeconds: t.int({
      description: `Seconds of being ready that make a replica available, ${range(bounds.minReadySeconds)}; ${defaultSettings.minReadySeconds} when left out.`,
    }),
    progressDeadlineSeconds: t.int({
      description: `Seconds without progress until STALLED, ${range(bounds.progressDeadlineSeconds)} and more than minReadySeconds; ${defaultSettings.progressDeadlineSeconds} when left out.`,
    }),
    autoRollback: t.boolean({
      description: `Whether a failing rollout is rolled back by itself; ${defaultSettings.autoRollback} when left out.`,
    }),
  }),
})

const BackoffInput = builder.inputType('BackoffInput', {
  description: 'The waits after failures: the first replacement at once, then base, doubled up to max.',
  fields: (t) => ({
    baseSeconds: t.int({
      description: `Seconds of the first wait, ${range(bounds.backoffSeconds)}; ${defaultSettings.backoffBaseSeconds} when left out.`,
    }),
    maxSeconds: t.int({
      description: `Seconds of the longest wait, ${range(bounds.backoffSeconds)} and not less than baseSeconds; ${defaultSettings.backoffMaxSeconds} when left out.`,
    }),
    resetAfterSeconds: t.int({
      description: `Seconds of being available that forget failures, ${range(bounds.backoffResetAfterSeconds)}; ${defaultSettings.backoffResetAfterSeconds} when left out.`,
    }),
  }),
})

const ServiceSettingsInput = builder.inputType('ServiceSettingsInput', {
  description: 'How services of the profile are kept.',
  fields: (t) => ({
    replicas: t.int({
      description: `Replicas of a service created without a number, ${range(bounds.replicas)}; ${defaultSettings.replicas} when left out.`,
    }),
    spread: t.field({
      type: SpreadInput,
      description: `Spread over hosts; ${defaultSettings.spreadMode} with ${defaultSettings.maxPerHost} per host when left out.`,
    }),
    rollout: t.field({ type: RolloutSettingsInput, description: 'How rollouts move.' }),
    backoff: t.field({ type: BackoffInput, description: 'The waits after failures.' }),
  }),
})

export const ApplyProfileInput = builder.inputType('ApplyProfileInput', {
  description: 'A whole profile: what is left out has its default, not its former value.',
  fields: (t) => ({
    name: t.string({ required: true, description: `A DNS-1123 label of at most ${bounds.nameLength} characters.` }),
    command: t.stringList({
      required: true,
      description: `The program and its arguments, ${range(bounds.commandWords)} words of together at most ${bounds.commandBytes} bytes; no shell.`,
    }),
    env: t.field({
      type: [EnvironmentVariableInput],
      required: { list: false, items: true },
      description: `At most ${bounds.variables.max} variables, each name once. HOME and TMPDIR are the replica's own directory where they are left out.`,
    }),
    workingDirectory: t.string({
      description: `Where the program starts, at most ${bounds.pathLength} characters: an absolute path on the host, or a relative one, without "..", which begins in the replica's own directory and is made there. Null: the replica's own directory. That is empty at first, kept over restarts in place, and removed some time after the replica has ended.`,
    }),
    ports: t.field({
      type: [PortInput],
      required: { list: false, items: true },
      description: `At most ${bounds.ports.max} ports.`,
    }),
    cpuMillis: t.int({
      description: `CPU of each replica in thousandths of a core, ${range(bounds.cpuMillis)}; ${defaultContent.cpuMillis} when left out.`,
    }),
    memoryMiB: t.int({
      description: `Memory of each replica in MiB, ${range(bounds.memoryMiB)}; ${defaultContent.memoryMiB} when left out.`,
    }),
    readiness: t.field({
      type: ProbeInput,
      description: 'When a replica is ready; left out: when its process is there.',
    }),
    liveness: t.field({ type: ProbeInput, description: 'A process that fails it is restarted in place.' }),
    restart: t.field({ type: RestartPolicyInput, description: 'Restarts in place.' }),
    stop: t.field({ type: StopPolicyInput, description: 'How replicas are stopped.' }),
    service: t.field({ type: ServiceSettingsInput, description: 'How its services are kept.' }),
    idempotencyKey: t.string({ description: keyDescription }),
  }),
})
