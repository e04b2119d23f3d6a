import type {
  LostContact as LostContactValue,
  PortProtocol as Protocol,
  RestartMode as RestartModeValue,
} from '../../generated/prisma/enums.ts'
import { bounds } from '../../model/bounds.ts'
import type * as Model from '../../model/content.ts'
import { builder } from '../kit/builder.ts'
import { enumOf } from '../kit/enumOf.ts'

// The parts of a version's content, as profiles and versions show them.

export const EnvironmentVariable = builder.objectRef<Model.EnvironmentVariable>('EnvironmentVariable').implement({
  description: 'A variable of the environment of a replica.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name, made of letters, digits, "_" and ".".' }),
    value: t.string({
      nullable: true,
      description: 'The value; null when it is secret, because the API never shows secret values.',
      resolve: (variable) => (variable.secret ? null : variable.value),
    }),
    secret: t.exposeBoolean('secret', { description: 'Whether the value is hidden.' }),
  }),
})

export const PortProtocol = enumOf<Protocol>('PortProtocol', 'The protocol of a port.', { TCP: 'TCP.', UDP: 'UDP.' })

export const PortDeclaration = builder.objectRef<Model.PortDeclaration>('PortDeclaration').implement({
  description: 'A port that each replica needs.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'A DNS label; the replica finds the number in XCE_PORT_<NAME>, upper case, "-" as "_".',
    }),
    port: t.exposeInt('port', {
      nullable: true,
      description: 'The fixed number; null when any free port of the host will do.',
    }),
    protocol: t.field({ type: PortProtocol, description: 'TCP or UDP.', resolve: (port) => port.protocol }),
  }),
})

export const AllocatedPort = builder.objectRef<Model.AllocatedPort>('AllocatedPort').implement({
  description: 'A port that a replica holds on its host until its end is confirmed.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name that the profile gives it.' }),
    port: t.exposeInt('port', { description: 'The number, 1 to 65535.' }),
    protocol: t.field({ type: PortProtocol, description: 'TCP or UDP.', resolve: (port) => port.protocol }),
  }),
})

type ActionOf<Kind extends Model.ProbeAction['kind']> = Extract<Model.ProbeAction, { kind: Kind }>

const HttpHeader = builder.objectRef<Model.HttpHeader>('HttpHeader').implement({
  description: 'A header of a request.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name.' }),
    value: t.exposeString('value', { description: 'The value.' }),
  }),
})

export const ProbeScheme = enumOf<Model.HttpProbeAction['scheme']>('ProbeScheme', 'How an HTTP probe asks.', {
  HTTP: 'In plain text.',
  HTTPS: 'By TLS. The certificate is not verified, because that of a replica is mostly its own.',
})

const HttpProbe = builder.objectRef<ActionOf<'http'>>('HttpProbe').implement({
  description: 'Succeeds when a GET is answered with a status from 200 to 399. Nothing but the status is read.',
  fields: (t) => ({
    port: t.exposeString('port', { description: 'The name of a declared port.' }),
    path: t.exposeString('path', { description: 'The path, with its leading "/".' }),
    scheme: t.field({ type: ProbeScheme, description: 'HTTP or HTTPS.', resolve: (action) => action.scheme }),
    headers: t.field({
      type: [HttpHeader],
      description: 'Headers that the probe sends besides its own or instead of them.',
      resolve: (action) => action.headers,
    }),
  }),
})

const TcpProbe = builder.objectRef<ActionOf<'tcp'>>('TcpProbe').implement({
  description: 'Succeeds when a TCP connection opens.',
  fields: (t) => ({ port: t.exposeString('port', { description: 'The name of a declared port.' }) }),
})

const ExecProbe = builder.objectRef<ActionOf<'exec'>>('ExecProbe').implement({
  description: 'Succeeds when a command ends with status 0.',
  fields: (t) => ({
    command: t.stringList({
      description: 'The program and its arguments; no shell.',
      resolve: (action) => action.command,
    }),
  }),
})

/** The action if it is of this kind. */
function actionOf<Kind extends Model.ProbeAction['kind']>({ action }: Model.Probe, kind: Kind): ActionOf<Kind> | null {
  return action.kind === kind ? (action as ActionOf<Kind>) : null
}

export const Probe = builder.objectRef<Model.Probe>('Probe').implement({
  description:
    'A check by which the worker learns whether a replica has started (startup), is ready (readiness) or works (liveness). Exactly one of http, tcp and exec is not null.',
  fields: (t) => ({
    http: t.field({
      type: HttpProbe,
      nullable: true,
      description: 'An HTTP request is sent. Null when the probe does something else.',
      resolve: (probe) => actionOf(probe, 'http'),
    }),
    tcp: t.field({
      type: TcpProbe,
      nullable: true,
      description: 'A TCP connection is opened. Null when the probe does something else.',
      resolve: (probe) => actionOf(probe, 'tcp'),
    }),
    exec: t.field({
      type: ExecProbe,
      nullable: true,
      description: 'A command is run. Null when the probe does something else.',
      resolve: (probe) => actionOf(probe, 'exec'),
    }),
    initialDelaySeconds: t.exposeInt('initialDelaySeconds', {
      description: 'Seconds from the start of the process to the first probe.',
    }),
    periodSeconds: t.exposeInt('periodSeconds', { description: 'Seconds between two probes.' }),
    timeoutSeconds: t.exposeInt('timeoutSeconds', {
      description: 'Seconds after which an unanswered probe has failed.',
    }),
    failureThreshold: t.exposeInt('failureThreshold', { description: 'Failures in a row that make it fail.' }),
    successThreshold: t.exposeInt('successThreshold', { description: 'Successes in a row that make it succeed.' }),
  }),
})

export const RestartMode = enumOf<RestartModeValue>(
  'RestartMode',
  'After which ends of its process a replica is restarted in place. Whatever it says, a replica that ends is replaced by a new one.',
  {
    ALWAYS: 'After every end, exit code 0 included.',
    ON_FAILURE:
      'After any end but exit code 0: another exit code, a signal, an end that was not seen, or a failed startup or liveness probe. With exit code 0 the replica is COMPLETED.',
    NEVER: 'After none. With exit code 0 the replica is COMPLETED, and otherwise it is EXITED.',
  },
)

export const RestartPolicy = builder.objectRef<Model.RestartPolicy>('RestartPolicy').implement({
  description: 'How a worker restarts a process in place before it gives the replica up (GAVE_UP).',
  fields: (t) => ({
    mode: t.field({
      type: RestartMode,
      description: 'After which ends of its process it is restarted in place.',
      resolve: (policy) => policy.mode,
    }),
    maxAttempts: t.exposeInt('maxAttempts', {
      description: 'The most restarts within windowSeconds; 0 means that it is never restarted in place.',
    }),
    windowSeconds: t.exposeInt('windowSeconds', { description: 'The window in seconds.' }),
    delaySeconds: t.exposeInt('delaySeconds', {
      description: 'Seconds before each restart within the window. The first restart is made at once.',
    }),
  }),
})

export const LostContact = enumOf<LostContactValue>(
  'LostContact',
  'What a worker does with replicas while it cannot reach a server.',
  {
    KEEP: 'The worker lets them run.',
    STOP: 'The worker stops them when the grace is over.',
  },
)

export const StopPolicy = builder.objectRef<Model.StopPolicy>('StopPolicy').implement({
  description:
    'How a replica is stopped: it leaves the endpoint, serves on for drainSeconds, is signalled, and is killed after graceSeconds.',
  fields: (t) => ({
    signal: t.exposeString('signal', {
      description:
        'The name of the signal without SIG, for example TERM. The whole process group of the command gets it, and everything else that the replica runs: a program that stops its own children must expect that they got it, too.',
    }),
    drainSeconds: t.exposeInt('drainSeconds', {
      description: 'Seconds between its address leaving the endpoint and the signal.',
    }),
    graceSeconds: t.exposeInt('graceSeconds', {
      description: 'Seconds between the signal and SIGKILL, which everything gets that the replica still runs.',
    }),
    onLostContact: t.field({
      type: LostContact,
      description: 'What the worker does while it cannot reach a server.',
      resolve: (policy) => policy.onLostContact,
    }),
  }),
})

export const ServiceOverrides = builder.objectRef<Model.Overrides>('ServiceOverrides').implement({
  description:
    "A service's own part, which is laid over its profile's. updateService takes the same fields, and changes nothing when it gets what was read here; createService takes them, too.",
  fields: (t) => ({
    command: t.stringList({
      nullable: true,
      description: "The command in place of the profile's; null when the profile's is used.",
      resolve: (overrides) => overrides.command,
    }),
    env: t.field({
      type: [EnvironmentVariable],
      description: "The variables that replace the profile's of the same name, or are added to them.",
      resolve: (overrides) => overrides.env,
    }),
    unsetEnv: t.stringList({
      description: "The names of the profile's variables that replicas of the service do not get.",
      resolve: (overrides) => overrides.unsetEnv,
    }),
    workingDirectory: t.exposeString('workingDirectory', {
      nullable: true,
      description: 'Where the program starts; null when it is as the profile says.',
    }),
    ports: t.field({
      type: [PortDeclaration],
      nullable: true,
      description: "The ports in place of the profile's; null when they are the profile's.",
      resolve: ({ ports }) => ports,
    }),
    cpuMillis: t.exposeInt('cpuMillis', {
      nullable: true,
      description: "CPU in thousandths of a core; null when it is the profile's.",
    }),
    memoryMiB: t.exposeInt('memoryMiB', {
      nullable: true,
      description: "Memory in MiB; null when it is the profile's.",
    }),
    startup: t.field({
      type: Probe,
      nullable: true,
      description: "The startup probe in place of the profile's; null when it is the profile's.",
      resolve: ({ startup }) => startup,
    }),
    readiness: t.field({
      type: Probe,
      nullable: true,
      description: "The readiness probe in place of the profile's; null when it is the profile's.",
      resolve: ({ readiness }) => readiness,
    }),
    liveness: t.field({
      type: Probe,
      nullable: true,
      description: "The liveness probe in place of the profile's; null when it is the profile's.",
      resolve: ({ liveness }) => liveness,
    }),
    restart: t.field({
      type: RestartPolicy,
      nullable: true,
      description: "The restart policy in place of the profile's; null when it is the profile's.",
      resolve: ({ restart }) => restart,
    }),
    stop: t.field({
      type: StopPolicy,
      nullable: true,
      description: "The stop policy in place of the profile's; null when it is the profile's.",
      resolve: ({ stop }) => stop,
    }),
  }),
})

export const PortRange = builder.objectRef<{ readonly from: number; readonly to: number }>('PortRange').implement({
  description: 'A range of ports, both ends included.',
  fields: (t) => ({
    from: t.exposeInt('from', { description: `The first, ${bounds.port.min} to ${bounds.port.max}.` }),
    to: t.exposeInt('to', { description: 'The last.' }),
  }),
})
