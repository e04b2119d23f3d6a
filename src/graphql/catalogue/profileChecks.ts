import { z } from 'zod'
import { bounds } from '../../model/bounds.ts'
import type { Content } from '../../model/content.ts'
import type { Settings } from '../../model/settings.ts'
import { defaultContent } from '../../rules/service/defaults.ts'
import { portVariableIssues } from '../../rules/version/mergedIssues.ts'
import { profileEnvironment } from '../content/environmentChecks.ts'
import { restart, restartOf, stop, stopOf } from '../content/policyChecks.ts'
import { ports } from '../content/portChecks.ts'
import { probe, probeOf, probePortFaults } from '../content/probeChecks.ts'
import { settings, settingsOf } from '../content/settingsChecks.ts'
import { check } from '../kit/check.ts'
import { command, directoryFaults, type Fault, faultless, name, whole } from '../kit/values.ts'

const applyProfile = faultless(
  z.object({
    name,
    command,
    env: profileEnvironment.nullish(),
    workingDirectory: faultless(z.string(), directoryFaults).nullish(),
    ports: ports.nullish(),
    cpuMillis: whole('thousandths of a core', bounds.cpuMillis).nullish(),
    memoryMiB: whole('MiB of memory', bounds.memoryMiB).nullish(),
    readiness: probe.nullish(),
    liveness: probe.nullish(),
    restart: restart.nullish(),
    stop: stop.nullish(),
    service: settings.nullish(),
  }),
  (input) => [
    ...under('env', portVariableIssues(input.env ?? [], input.ports ?? [])),
    ...under('readiness', probePortFaults(input.readiness, input.ports ?? [])),
    ...under('liveness', probePortFaults(input.liveness, input.ports ?? [])),
  ],
)

function under(field: string, faults: readonly Fault[]): Fault[] {
  return faults.map(({ path = [], message }) => ({ path: [field, ...path], message }))
}

/** ApplyProfileInput with its defaults. */
export function checkProfile(input: unknown): {
  readonly name: string
  readonly content: Content
  readonly settings: Settings
} {
  const valid = check(applyProfile, input)
  const declared = (valid.ports ?? []).map(({ name, port, protocol }) => ({
    name,
    port: port ?? null,
    protocol: protocol ?? ('TCP' as const),
  }))
  const content: Content = {
    command: valid.command,
    env: (valid.env ?? []).map(({ name, value, secret }) => ({ name, value: value ?? '', secret: secret ?? false })),
    workingDirectory: valid.workingDirectory ?? null,
    ports: declared,
    cpuMillis: valid.cpuMillis ?? defaultContent.cpuMillis,
    memoryMiB: valid.memoryMiB ?? defaultContent.memoryMiB,
    readiness: probeOf(valid.readiness),
    liveness: probeOf(valid.liveness),
    restart: restartOf(valid.restart),
    stop: stopOf(valid.stop),
  }
  return { name: valid.name, content, settings: settingsOf(valid.service, declared) }
}
