import type { EnvironmentVariable } from '../../model/content.ts'
import type { Assignment as AssignmentValue } from '../../store/read/readAssignments.ts'
import type { LogRequest as LogRequestValue } from '../../systems/logs/logRelay.ts'
import { AllocatedPort, Probe, RestartPolicy, StopPolicy } from '../content/content.ts'
import { builder } from '../kit/builder.ts'
import { enumOf } from '../kit/enumOf.ts'
import { encodeGlobalId } from '../kit/globalId.ts'
import { LogStream } from '../replica/replicaEnums.ts'

const Goal = enumOf<AssignmentValue['goal']>('Goal', 'What a worker should do with a replica.', {
  RUN: 'Run it, and restart it in place when its process ends.',
  STOP: 'Stop it by its stop policy.',
})

const AssignedVariable = builder.objectRef<EnvironmentVariable>('AssignedVariable').implement({
  description: 'A variable of the environment. Only workers see it, secret values included.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name.' }),
    value: t.exposeString('value', { description: 'The value.' }),
  }),
})

export const Assignment = builder.objectRef<AssignmentValue>('Assignment').implement({
  description: 'What a worker should do with one replica. Only the goal changes during the life of the replica.',
  fields: (t) => ({
    replica: t.id({
      description: 'The global id of the replica.',
      resolve: ({ replicaId }) => encodeGlobalId('Replica', replicaId),
    }),
    goal: t.field({
      type: Goal,
      description: 'Whether the worker should run the replica or stop it.',
      resolve: (assignment) => assignment.goal,
    }),
    service: t.exposeString('service', { description: "The service's name." }),
    project: t.exposeString('project', { description: "The project's name." }),
    index: t.exposeInt('index', { description: 'Its index in the service.' }),
    versionNumber: t.exposeInt('versionNumber', { description: 'The version under which it was started.' }),
    command: t.stringList({
      description: 'The program and its arguments; no shell.',
      resolve: ({ content }) => content.command,
    }),
    env: t.field({
      type: [AssignedVariable],
      description:
        'The variables of the version. The worker adds XCE_… and PORT, and where they are not set HOME and TMPDIR.',
      resolve: ({ content }) => content.env,
    }),
    workingDirectory: t.string({
      nullable: true,
      description:
        "Where the program starts. A relative path begins in the replica's own directory; null means that directory.",
      resolve: ({ content }) => content.workingDirectory,
    }),
    ports: t.field({
      type: [AllocatedPort],
      description: 'Its ports on this host.',
      resolve: (assignment) => assignment.ports,
    }),
    cpuMillis: t.int({
      description: 'CPU reserved for it, in thousandths of a core.',
      resolve: ({ content }) => content.cpuMillis,
    }),
    memoryMiB: t.int({ description: 'Memory reserved for it, in MiB.', resolve: ({ content }) => content.memoryMiB }),
    startup: t.field({
      type: Probe,
      nullable: true,
      description: 'The other probes wait until it has succeeded once in a start. Null: they do not wait.',
      resolve: ({ content }) => content.startup,
    }),
    readiness: t.field({
      type: Probe,
      nullable: true,
      description:
        'The readiness probe. Null means that the replica is ready when its startup probe has succeeded or, without one, when its process runs.',
      resolve: ({ content }) => content.readiness,
    }),
    liveness: t.field({
      type: Probe,
      nullable: true,
      description: 'The liveness probe; null when there is none.',
      resolve: ({ content }) => content.liveness,
    }),
    restart: t.field({
      type: RestartPolicy,
      description: 'Restarts in place.',
      resolve: ({ content }) => content.restart,
    }),
    stop: t.field({ type: StopPolicy, description: 'How it is stopped.', resolve: ({ content }) => content.stop }),
  }),
})

export const LogRequest = builder.objectRef<LogRequestValue>('LogRequest').implement({
  description: "A question about a replica's log. The worker answers with answerLogRequest.",
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id that the answer must name.' }),
    replica: t.id({
      description: 'The global id of the replica.',
      resolve: ({ replica }) => encodeGlobalId('Replica', replica),
    }),
    stream: t.field({
      type: LogStream,
      nullable: true,
      description: 'Only lines of this stream; null: of both.',
      resolve: ({ stream }) => stream,
    }),
    start: t.exposeInt('start', { nullable: true, description: 'Only lines of this start; null: of all.' }),
    since: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Only lines that the worker saw at this instant of its clock, or later; null: of any time.',
      resolve: ({ since }) => since,
    }),
    tailLines: t.exposeInt('tailLines', { description: 'The most lines to return, the newest.' }),
    maxBytes: t.exposeInt('maxBytes', { description: 'The most bytes of text to return, the newest.' }),
    after: t.exposeString('after', {
      nullable: true,
      description:
        'Only what comes after this position, the oldest first; then start, since and tailLines do not count.',
    }),
    waitSeconds: t.exposeInt('waitSeconds', {
      description: 'How long the answer may wait for something to come after the position.',
    }),
  }),
})
