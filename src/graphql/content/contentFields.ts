import { bounds } from '../../model/bounds.ts'
import type { OverridesChange, Replaceable } from '../../model/content.ts'
import { quoted } from '../../model/quoted.ts'
import { defaultContent } from '../../rules/service/defaults.ts'
import type { Fault } from '../kit/check.ts'
import type { InputFields } from '../kit/mutation.ts'
import { pathFaults, pathLengthFaults, whole } from '../kit/values.ts'
import { RestartPolicyInput, restartOf, StopPolicyInput, stopOf } from './policyInput.ts'
import { portsField, portsOf } from './portInput.ts'
import { ProbeInput, probeOf, singleSuccessFaults } from './probeInput.ts'

/**
 * Declares what a profile says of its replicas besides command and environment, and what a service may have of its own in
 * place of that. `otherwise` says what holds where a field is left out, given the default of a profile.
 */
export function contentFields(t: InputFields, otherwise: (byDefault: string | number) => string) {
  const one = (description: string) => `${description} ${otherwise('none')}`
  return {
    workingDirectory: t.string({
      description: `Where the program starts, at most ${bounds.pathLength} characters: an absolute path on the host, or a relative one, without "..", which begins in the replica's own directory and is made there. The replica's own directory is empty at first, kept over restarts in place, and removed some time after the replica has ended. ${otherwise("the replica's own directory")}`,
      check: directoryFaults,
    }),
    ports: t.field({ ...portsField, description: one(portsField.description) }),
    cpuMillis: t.int(
      whole(
        bounds.cpuMillis,
        'thousandths of a core',
        (range) => `CPU of each replica in thousandths of a core, ${range}. ${otherwise(defaultContent.cpuMillis)}`,
      ),
    ),
    memoryMiB: t.int(
      whole(
        bounds.memoryMiB,
        'MiB of memory',
        (range) => `Memory of each replica in MiB, ${range}. ${otherwise(defaultContent.memoryMiB)}`,
      ),
    ),
    startup: t.field({
      type: ProbeInput,
      description: one(
        'The startup probe. The other probes wait until it has succeeded once. A process that fails it is restarted in place, so a slow program needs a failureThreshold × periodSeconds that is longer than its start takes.',
      ),
      check: singleSuccessFaults,
    }),
    readiness: t.field({
      type: ProbeInput,
      description: one(
        'The readiness probe. Without one a replica is ready when its startup probe has succeeded or, without that one too, when its process runs.',
      ),
    }),
    liveness: t.field({
      type: ProbeInput,
      description: one('The liveness probe: a process that fails it is restarted in place.'),
      check: singleSuccessFaults,
    }),
    restart: t.field({ type: RestartPolicyInput, description: 'How a process is restarted in place.' }),
    stop: t.field({ type: StopPolicyInput, description: 'How replicas are stopped.' }),
  }
}

/** The fields of `contentFields` as a caller gives them. */
type Given = {
  readonly [Key in keyof ReturnType<typeof contentFields>]?: ReturnType<typeof contentFields>[Key] extends {
    readonly $inferInput: infer Value
  }
    ? Value
    : never
}

/** Parts the fields of `contentFields` from the rest of an input. */
export function contentOf<Input extends Given>(
  input: Input,
): { readonly given: Given; readonly rest: Omit<Input, keyof Given> } {
  const { workingDirectory, ports, cpuMillis, memoryMiB, startup, readiness, liveness, restart, stop, ...rest } = input
  const given = { workingDirectory, ports, cpuMillis, memoryMiB, startup, readiness, liveness, restart, stop }
  return { given, rest }
}

/** The content of a profile but for command and environment. Fields that are left out get their default. */
export function contentWithDefaults(given: Given): Omit<Replaceable, 'command'> {
  const { workingDirectory, ports, cpuMillis, memoryMiB, startup, readiness, liveness, restart, stop } = given
  return {
    workingDirectory: workingDirectory ?? null,
    ports: portsOf(ports),
    cpuMillis: cpuMillis ?? defaultContent.cpuMillis,
    memoryMiB: memoryMiB ?? defaultContent.memoryMiB,
    startup: probeOf(startup),
    readiness: probeOf(readiness),
    liveness: probeOf(liveness),
    restart: restartOf(restart),
    stop: stopOf(stop),
  }
}

/** What a service wants of its own. A field that is left out changes nothing, and null goes back to the profile's value. */
export function ownContent(given: Given): Omit<OverridesChange, 'command' | 'env' | 'setEnv' | 'unsetEnv'> {
  const whole = contentWithDefaults(given)
  const entries = Object.entries(whole).filter(([name]) => given[name as keyof Given] !== undefined)
  return Object.fromEntries(entries.map(([name, value]) => [name, given[name as keyof Given] === null ? null : value]))
}

/** Where a program starts: a path on its host, or one in the replica's own directory. */
function directoryFaults(path: string): Fault[] {
  if (path.startsWith('/')) return pathFaults('The directory', path)
  if (path === '') return [{ message: "The directory is empty: leave it out for the replica's own directory." }]
  if (!path.split('/').includes('..')) return pathLengthFaults('The directory', path)
  const message = `The directory ${quoted(path)} has ".." in it: a relative one begins in the replica's own directory and can't leave it.`
  return [{ message }]
}
