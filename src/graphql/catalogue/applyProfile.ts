import { bounds } from '../../model/bounds.ts'
import { quoted } from '../../model/quoted.ts'
import { defaultContent } from '../../rules/service/defaults.ts'
import { settingsWarnings } from '../../rules/service/settingsWarnings.ts'
import { portVariableIssues } from '../../rules/version/mergedIssues.ts'
import type { ClusterOutcome, GivenContent } from '../../store/commit/outcome.ts'
import { environmentField, environmentOf } from '../content/environmentInput.ts'
import { RestartPolicyInput, restartOf, StopPolicyInput, stopOf } from '../content/policyInput.ts'
import { portsField, portsOf } from '../content/portInput.ts'
import { ProbeInput, probeOf, probePortFaults, singleSuccessFaults } from '../content/probeInput.ts'
import { warningsDescription } from '../content/settings.ts'
import { ServiceSettingsInput, settingsFaults, settingsWithDefaults } from '../content/settingsInput.ts'
import { builder } from '../kit/builder.ts'
import { type Fault, noneLeft } from '../kit/check.ts'
import { appliedOf, userMutation } from '../kit/mutation.ts'
import { rowType } from '../kit/rowType.ts'
import { checkCommand, nameField, pathFaults, pathLengthFaults, whole } from '../kit/values.ts'

const ApplyProfilePayload = builder
  .objectRef<Extract<ClusterOutcome, { kind: 'profile' }>>('ApplyProfilePayload')
  .implement({
    description: 'The profile was applied.',
    fields: (t) => ({
      profile: t.field({
        type: rowType('ProfileRevision'),
        description: 'The newest revision.',
        resolve: ({ profileRevisionId }, _args, { rows }) => rows.require('ProfileRevision', profileRevisionId),
      }),
      created: t.exposeBoolean('created', {
        description:
          'Whether this made a new revision. False when the newest revision had the same content and settings already.',
      }),
      warnings: t.stringList({
        description: warningsDescription,
        resolve: async ({ profileRevisionId: id }, _args, { app }) => {
          const { settings, content } = await app.database.prisma.profileRevision.findUniqueOrThrow({ where: { id } })
          return settingsWarnings(settings, content)
        },
      }),
    }),
  })

userMutation({
  name: 'applyProfile',
  description:
    'Makes a profile, or the next revision of it. Services keep the revision they have until they are updated. The same content and settings again make no new revision.',
  input: {
    description: 'A whole profile. Omitted fields get their default, not their former value.',
    fields: (t) => ({
      name: t.string(nameField),
      command: t.stringList({
        required: true,
        description: `The program and its arguments, ${bounds.commandWords.min} to ${bounds.commandWords.max} words of together at most ${bounds.commandBytes} bytes; no shell.`,
        check: checkCommand,
      }),
      env: t.field({
        ...environmentField,
        description: `At most ${bounds.variables.max} variables, each name once. HOME and TMPDIR are the replica's own directory where they are left out. A secret without a value keeps that of the newest revision.`,
      }),
      workingDirectory: t.string({
        description: `Where the program starts, at most ${bounds.pathLength} characters: an absolute path on the host, or a relative one, without "..", which begins in the replica's own directory and is made there. Null: the replica's own directory. That is empty at first, kept over restarts in place, and removed some time after the replica has ended.`,
        check: directoryFaults,
      }),
      ports: t.field(portsField),
      cpuMillis: t.int(
        whole(
          bounds.cpuMillis,
          'thousandths of a core',
          (range) =>
            `CPU of each replica in thousandths of a core, ${range}; ${defaultContent.cpuMillis} when left out.`,
        ),
      ),
      memoryMiB: t.int(
        whole(
          bounds.memoryMiB,
          'MiB of memory',
          (range) => `Memory of each replica in MiB, ${range}; ${defaultContent.memoryMiB} when left out.`,
        ),
      ),
      startup: t.field({
        type: ProbeInput,
        description:
          'The startup probe. The other probes wait until it has succeeded once. A process that fails it is restarted in place, so a slow program needs a failureThreshold × periodSeconds that is longer than its start takes.',
      }),
      readiness: t.field({
        type: ProbeInput,
        description:
          'The readiness probe. Without one a replica is ready when its startup probe has succeeded or, without that one too, when its process runs.',
      }),
      liveness: t.field({
        type: ProbeInput,
        description: 'The liveness probe: a process that fails it is restarted in place.',
      }),
      restart: t.field({ type: RestartPolicyInput, description: 'Restarts in place.' }),
      stop: t.field({ type: StopPolicyInput, description: 'How replicas are stopped.' }),
      serviceDefaults: t.field({
        type: ServiceSettingsInput,
        description: 'The settings of services that use this profile.',
      }),
    }),
    check: ({ env, startup, readiness, liveness, serviceDefaults, ...input }) => {
      const ports = portsOf(input.ports)
      return [
        ...under('env', portVariableIssues(env ?? [], ports)),
        ...under('startup', [...probePortFaults(startup, ports), ...singleSuccessFaults(startup)]),
        ...under('readiness', probePortFaults(readiness, ports)),
        ...under('liveness', [...probePortFaults(liveness, ports), ...singleSuccessFaults(liveness)]),
        ...under('serviceDefaults', settingsFaults(serviceDefaults, { ports, readiness: probeOf(readiness) })),
      ]
    },
  },
  payload: ApplyProfilePayload,
  errors: [],
  about: (input) => ({ profile: input.name }),
  perform: async (input, { app, viewer, remember }) => {
    const { name, ports, serviceDefaults, ...own } = input
    const { command, env, workingDirectory, cpuMillis, memoryMiB, restart, stop, ...probes } = own
    const { startup, readiness, liveness, ...rest } = probes
    noneLeft(rest)
    const declared = portsOf(ports)
    const content: GivenContent = {
      command,
      env: environmentOf(env),
      workingDirectory: workingDirectory ?? null,
      ports: declared,
      cpuMillis: cpuMillis ?? defaultContent.cpuMillis,
      memoryMiB: memoryMiB ?? defaultContent.memoryMiB,
      startup: probeOf(startup),
      readiness: probeOf(readiness),
      liveness: probeOf(liveness),
      restart: restartOf(restart),
      stop: stopOf(stop),
    }
    const settings = settingsWithDefaults(serviceDefaults, content)
    const change = { kind: 'applyProfile', name, content, settings, actor: viewer.subject } as const
    return appliedOf('profile', await app.committer.write(change, remember(null)))
  },
})

/** Where a program starts: a path on its host, or one in the replica's own directory. */
function directoryFaults(path: string): Fault[] {
  if (path.startsWith('/')) return pathFaults('The directory', path)
  if (path === '') return [{ message: "The directory is empty: leave it out for the replica's own directory." }]
  if (!path.split('/').includes('..')) return pathLengthFaults('The directory', path)
  const message = `The directory ${quoted(path)} has ".." in it: a relative one begins in the replica's own directory and can't leave it.`
  return [{ message }]
}

function under(field: string, faults: readonly Fault[]): Fault[] {
  return faults.map(({ path = [], message }) => ({ path: [field, ...path], message }))
}
