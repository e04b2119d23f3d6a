import type { RolloutSettings } from '../../model/settings.ts'
import { withoutNulls } from '../../model/withoutNulls.ts'
import type { Action, Expectation } from '../scenario.ts'
import type { EventFile, ExpectationFile } from './scenarioSchema.ts'

/** A mistake in a scenario file: where it is, and a sentence. */
export interface Mistake {
  readonly path: readonly (string | number)[]
  readonly message: string
}

export type AddMistake = (path: Mistake['path'], message: string) => void

export interface Names {
  /** The services that a name in an event stands for: one, or all that were numbered from it. */
  readonly services: ReadonlyMap<string, readonly string[]>
  readonly hosts: ReadonlyMap<string, readonly string[]>
  readonly releases: ReadonlyMap<string, ReadonlySet<string>>
  readonly projects: ReadonlySet<string>
  readonly addMistake: AddMistake
}

/** Reads what an event of the file does: one action per service that its name stands for. */
export function actionsOf(event: EventFile, at: Mistake['path'], names: Names): Action[] {
  const { at: _, host, quota, expect, ...own } = event
  if (expect !== undefined) {
    return expectationsOf(expect, [...at, 'expect'], names).map((expectation) => ({ kind: 'expect', expectation }))
  }
  if (host !== undefined) {
    const known = names.hosts.get(host.name)
    if (known === undefined) names.addMistake([...at, 'host', 'name'], `There is no host ${JSON.stringify(host.name)}.`)
    const becomes = host.scheduling ?? host.is
    return known === undefined || becomes === undefined
      ? []
      : [{ kind: 'host', hosts: known, count: host.count ?? null, becomes }]
  }
  if (quota !== undefined) {
    if (!names.projects.has(quota.project)) {
      names.addMistake([...at, 'quota', 'project'], `There is no project ${JSON.stringify(quota.project)}.`)
    }
    return [{ kind: 'quota', project: quota.project, maxReplicas: quota.maxReplicas }]
  }
  for (const kind of [
    'scale',
    'update',
    'rollback',
    'pause',
    'resume',
    'restart',
    'delete',
    'resetBackoff',
    'kill',
    'fail',
  ] as const) {
    const target = own[kind]
    if (target === undefined) continue
    return servicesNamed(target.service, [...at, kind, 'service'], names).map((service) =>
      actionOf(own, service, [...at, kind], names),
    )
  }
  return []
}

function actionOf(event: Omit<EventFile, 'at'>, service: string, at: Mistake['path'], names: Names): Action {
  const { scale, update, rollback, kill, fail } = event
  if (scale !== undefined) return { kind: 'scale', service, replicas: scale.replicas }
  if (update !== undefined) {
    const { release, replicas, rollout, startPaused } = update
    if (release !== undefined) checkRelease(service, release, [...at, 'release'], names)
    return {
      kind: 'update',
      service,
      release: release ?? null,
      replicas: replicas ?? null,
      rollout: withoutNulls<RolloutSettings>(rollout ?? {}),
      startPaused: startPaused ?? false,
    }
  }
  if (rollback !== undefined) return { kind: 'rollback', service, toVersion: rollback.toVersion ?? null }
  if (kill !== undefined) return { kind: 'kill', service, index: kill.index }
  if (fail !== undefined) {
    const which = fail.indexes !== undefined ? { indexes: fail.indexes } : { count: fail.count ?? 1 }
    return { kind: 'fail', service, how: fail.how ?? 'crash', which }
  }
  const kind =
    (['pause', 'resume', 'restart', 'delete', 'resetBackoff'] as const).find((one) => event[one] !== undefined) ??
    'resume'
  return { kind, service }
}

export function expectationsOf(file: ExpectationFile, at: Mistake['path'], names: Names): Expectation[] {
  const { service: _, ...own } = file
  return servicesNamed(file.service, [...at, 'service'], names).map((service) => {
    if (own.release !== undefined) checkRelease(service, own.release, [...at, 'release'], names)
    return { service, ...withoutNulls<Omit<Expectation, 'service'>>(own) }
  })
}

function servicesNamed(name: string, at: Mistake['path'], { services, addMistake }: Names): readonly string[] {
  const known = services.get(name)
  if (known === undefined) addMistake(at, `There is no service ${JSON.stringify(name)}.`)
  return known ?? []
}

function checkRelease(service: string, release: string, at: Mistake['path'], { releases, addMistake }: Names): void {
  const known = releases.get(service)
  if (known !== undefined && !known.has(release)) {
    addMistake(
      at,
      `Service ${service} has no release ${JSON.stringify(release)}: give one of ${[...known].join(', ')}.`,
    )
  }
}
