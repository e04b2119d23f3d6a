import { defaultPortRange } from '../../model/bounds.ts'
import type { Content, Probe } from '../../model/content.ts'
import type { Settings } from '../../model/settings.ts'
import { givenSettings, restartWith, settingsWith, stopWith } from '../../rules/service/defaults.ts'
import { settingsIssues } from '../../rules/service/settings.ts'
import { type Behaviour, wellBehaved } from '../behaviour.ts'
import type { Release, Scenario, ScenarioEvent, ScenarioHost, ScenarioService } from '../scenario.ts'
import { type AddMistake, actionsOf, expectationsOf, type Mistake, type Names } from './actionsOf.ts'
import type { ReleaseFile, ScenarioFile, ServiceFile } from './scenarioSchema.ts'

/**
 * Makes the scenario that a file describes: names are looked up, numbered ones written out, and defaults filled in as
 * the API does.
 */
export function scenarioOf(
  file: ScenarioFile,
): { readonly scenario: Scenario } | { readonly mistakes: readonly Mistake[] } {
  const mistakes: Mistake[] = []
  const addMistake = (path: Mistake['path'], message: string) => mistakes.push({ path, message })
  let hostCount = 0
  const hosts = file.hosts.flatMap((host, at) =>
    numbered(host).map((name) => hostOf(host, name, ++hostCount, ['hosts', at], addMistake)),
  )
  const services = file.services.flatMap((service, at) => servicesOf(file, service, at, addMistake))
  rejectDuplicates(hosts, 'hosts', addMistake)
  rejectDuplicates(services, 'services', addMistake)
  const names: Names = {
    services: groupsOf(file.services),
    hosts: groupsOf(file.hosts),
    releases: new Map(services.map(({ name, releases }) => [name, new Set(releases.map((release) => release.name))])),
    projects: new Set(['default', ...file.projects.map((project) => project.name)]),
    addMistake,
  }
  const events = file.events.flatMap((event, at) =>
    actionsOf(event, ['events', at], names).map((action): ScenarioEvent => ({ atSeconds: event.at, action })),
  )
  const expected = file.expect.flatMap((expected, at) => expectationsOf(expected, ['expect', at], names))
  if (mistakes.length > 0) return { mistakes }
  events.sort((a, b) => a.atSeconds - b.atSeconds)
  const projects = file.projects.map(({ name, maxReplicas }) => ({ name, maxReplicas: maxReplicas ?? null }))
  if (!projects.some(({ name }) => name === 'default')) projects.unshift({ name: 'default', maxReplicas: null })
  const { seed, end: endSeconds, lease: leaseSeconds, grace: graceSeconds } = file
  return { scenario: { seed, endSeconds, leaseSeconds, graceSeconds, hosts, projects, services, events, expected } }
}

function numbered({ name, count }: { readonly name: string; readonly count?: number | undefined }): readonly string[] {
  return count === undefined ? [name] : Array.from({ length: count }, (_, at) => `${name}-${at + 1}`)
}

function groupsOf(
  items: readonly { readonly name: string; readonly count?: number | undefined }[],
): Map<string, readonly string[]> {
  const groups = new Map<string, readonly string[]>()
  for (const item of items) {
    const names = numbered(item)
    groups.set(item.name, names)
    for (const name of names) groups.set(name, [name])
  }
  return groups
}

function rejectDuplicates(items: readonly { readonly name: string }[], list: string, addMistake: AddMistake): void {
  const seen = new Set<string>()
  for (const { name } of items) {
    if (seen.has(name)) addMistake([list], `${JSON.stringify(name)} is there twice: give each a name of its own.`)
    seen.add(name)
  }
}

function hostOf(
  host: ScenarioFile['hosts'][number],
  name: string,
  number: number,
  at: Mistake['path'],
  addMistake: AddMistake,
): ScenarioHost {
  const { cpuMillis, memoryMiB, portRange, reservedPorts } = host
  const { from, to } = portRange ?? defaultPortRange
  if (from > to) addMistake([...at, 'portRange'], `The range ${from} to ${to} ends before it begins.`)
  const addresses = [`10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`]
  return { name, addresses, cpuMillis, memoryMiB, portFrom: from, portTo: to, reservedPorts }
}

function servicesOf(file: ScenarioFile, service: ServiceFile, at: number, addMistake: AddMistake): ScenarioService[] {
  const { project = 'default', queue = 'default', replicas } = service
  if (project !== 'default' && !file.projects.some(({ name }) => name === project)) {
    addMistake(['services', at, 'project'], `There is no project ${JSON.stringify(project)}: add it to projects.`)
  }
  const queuePriority = queue === 'default' ? 0 : file.queues.find(({ name }) => name === queue)?.priority
  if (queuePriority === undefined)
    addMistake(['services', at, 'queue'], `There is no queue ${JSON.stringify(queue)}: add it to queues.`)
  const explicit = givenSettings(service)
  const releases = Object.entries(service.releases ?? { v1: {} }).map(([name, own]) =>
    releaseOf(name, { ...withoutReleases(service), ...own }, explicit),
  )
  const release = service.release ?? releases[0]?.name ?? 'v1'
  if (!releases.some(({ name }) => name === release)) {
    addMistake(
      ['services', at, 'release'],
      `There is no release ${JSON.stringify(release)}: give one of ${releases.map(({ name }) => name).join(', ')}.`,
    )
  }
  const [first] = releases
  const issues = first === undefined ? [] : settingsIssues(first.settings, explicit)
  for (const { path, message } of issues) addMistake(['services', at, ...path], message)
  return numbered(service).map((name) => ({
    name,
    project,
    queuePriority: queuePriority ?? 0,
    atSeconds: service.at ?? 0,
    replicas,
    releases,
    release,
  }))
}

function withoutReleases(service: ServiceFile): ReleaseFile {
  const { name, at, project, queue, count, replicas, spread, rollout, backoff, release, releases, ...own } = service
  return own
}

/** How a simulated program behaves where the file does not say. */
const usual: Behaviour = { ...wellBehaved, readyAfterSeconds: { from: 5, to: 5 } }

const probe: Probe = {
  action: { kind: 'exec', command: ['ready'] },
  initialDelaySeconds: 0,
  periodSeconds: 1,
  timeoutSeconds: 1,
  failureThreshold: 1,
  successThreshold: 1,
}

function releaseOf(name: string, own: ReleaseFile, explicit: Partial<Settings>): Release {
  const content: Content = {
    command: ['serve', name],
    env: [],
    workingDirectory: null,
    ports: (own.ports ?? []).map(({ name: port, port: number, protocol }) => ({
      name: port,
      port: number ?? null,
      protocol: protocol ?? 'TCP',
    })),
    cpuMillis: own.cpuMillis ?? 1_000,
    memoryMiB: own.memoryMiB ?? 1_024,
    startup: null,
    readiness: own.readiness === 'none' ? null : probe,
    liveness: null,
    restart: restartWith(own.restart ?? {}),
    stop: stopWith(own.stop ?? {}),
  }
  const behaviour: Behaviour = {
    startSeconds: own.startAfter ?? usual.startSeconds,
    readyAfterSeconds: own.readyAfter === undefined ? usual.readyAfterSeconds : own.readyAfter,
    crashAfterSeconds: own.crashAfter ?? usual.crashAfterSeconds,
    crashChance: own.crashChance ?? usual.crashChance,
    exitCode: own.exitCode ?? usual.exitCode,
    startFailsChance: own.startFailsChance ?? usual.startFailsChance,
    portTakenChance: own.portTakenChance ?? usual.portTakenChance,
    stopSeconds: own.stopAfter ?? usual.stopSeconds,
  }
  return { name, content, settings: settingsWith(explicit, content), behaviour }
}
