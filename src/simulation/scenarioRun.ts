import type {
  HostId,
  Instant,
  ProfileRevisionId,
  ProjectId,
  QueueId,
  RolloutId,
  ServiceId,
  WorkerId,
} from '../model/id.ts'
import type { NewService, ServiceIntent } from '../model/intent.ts'
import type { Outcome } from '../model/outcome.ts'
import { isActive } from '../model/replica.ts'
import type { Replica } from '../model/service.ts'
import { noOverrides } from '../rules/version/content.ts'
import { wellBehaved } from './behaviour.ts'
import { unmet } from './expectation.ts'
import type { HostLedger } from './hostLedger.ts'
import { Random } from './random.ts'
import type { Action, Release, Scenario, ScenarioService, Which } from './scenario.ts'
import type { SimulatedService } from './simulatedService.ts'
import { Simulation } from './simulation.ts'

/** Something that a person may want to read. */
export interface Line {
  readonly at: Instant
  /** The name of the service, or of whatever else it is about. */
  readonly subject: string
  readonly message: string
  /** It is a mistake of the rules, or an expectation that was not met. */
  readonly isFault: boolean
}

/** Something that a user asks of a service. */
type UserAction = Exclude<Action, { kind: 'expect' | 'host' | 'quota' | 'fail' }>

/** Scenarios begin at the instant 0. */
const begin: Instant = 0
const user = 'user'

/** Runs a scenario with everything in it. */
export class ScenarioRun {
  readonly simulation: Simulation
  /** How many expectations were not met. */
  failures = 0
  readonly #scenario: Scenario
  readonly #random: Random
  readonly #onLine: (line: Line) => void
  readonly #services = new Map<string, ServiceId>()
  readonly #scenarioServices = new Map<string, ScenarioService>()
  readonly #hosts = new Map<string, HostLedger>()
  #faultsShown = 0
  #ids = 0

  constructor(scenario: Scenario, onLine: (line: Line) => void) {
    this.#scenario = scenario
    this.#onLine = onLine
    this.#random = new Random(scenario.seed)
    const behaviours = new Map<string, Release['behaviour']>()
    for (const service of scenario.services) {
      this.#scenarioServices.set(service.name, service)
      for (const release of service.releases) behaviours.set(`${service.name}/${release.name}`, release.behaviour)
    }
    this.simulation = new Simulation({
      now: begin,
      newId: () => this.#newId(),
      random: this.#random,
      leaseSeconds: scenario.leaseSeconds,
      graceSeconds: scenario.graceSeconds,
      onHost: ({ name }, message) => this.#addLine(this.simulation.store.now, name, message),
      behaviourOf: (serviceId, _row, content) => behaviours.get(`${serviceId}/${content.command[1]}`) ?? wellBehaved,
      onCommit: ({ at, after, change }) => {
        for (const { event } of change.facts) if (event !== null) this.#addLine(at, after.name, event.message)
        this.#addFaultLines()
      },
    })
    this.#addHostsAndEvents()
  }

  /** Lets everything happen up to and including the next instant. Returns false when the end is reached. */
  advance(): boolean {
    const { simulation } = this
    const end = begin + this.#scenario.endSeconds * 1_000
    if (simulation.nextAt !== null && simulation.nextAt <= end && simulation.advance()) return true
    simulation.store.now = Math.max(simulation.store.now, end)
    for (const expectation of this.#scenario.expected) this.#checkExpectation(expectation)
    this.#addFaultLines()
    return false
  }

  /** Finds the service of that name, once it exists. */
  service(name: string): SimulatedService | undefined {
    const id = this.#services.get(name)
    return id === undefined ? undefined : this.simulation.store.services.get(id)
  }

  #addHostsAndEvents(): void {
    const { simulation } = this
    this.#scenario.hosts.forEach(({ cpuMillis, memoryMiB, ...host }, at) => {
      const id = `host-${String(at + 1).padStart(6, '0')}` as HostId
      const room = { cpuMillis, memoryMiB, usedCpuMillis: 0, usedMemoryMiB: 0 }
      const worker = { id: `worker-of-${id}` as WorkerId, reachability: 'REACHABLE', draining: false, ...room } as const
      const ledger = simulation.store.addHost({
        id,
        scheduling: 'OPEN',
        reachability: 'REACHABLE',
        reason: null,
        allocation: 0,
        workers: [worker],
        lastPort: host.portFrom - 1,
        takenPorts: [],
        replicasOf: new Map(),
        ...host,
      })
      this.#hosts.set(host.name, ledger)
    })
    for (const { name, maxReplicas } of this.#scenario.projects) {
      simulation.store.addProject({ id: name as ProjectId, name, maxReplicas, usedReplicas: 0 })
    }
    for (const service of this.#scenario.services)
      simulation.at(begin + service.atSeconds * 1_000, () => this.#createService(service))
    for (const { atSeconds, action } of this.#scenario.events)
      simulation.at(begin + atSeconds * 1_000, () => this.#runAction(action))
  }

  #newId(): string {
    return `id-${String(++this.#ids).padStart(9, '0')}`
  }

  #createService(planned: ScenarioService): void {
    const release = planned.releases.find(({ name }) => name === planned.release)
    const id = planned.name as ServiceId
    const project = this.simulation.store.projects.get(planned.project as ProjectId)
    if (release === undefined || project === undefined) return
    const { content, settings } = release
    const service: NewService = {
      id,
      projectId: project.id,
      projectName: project.name,
      queueId: 'queue' as QueueId,
      name: planned.name,
      owner: user,
      profileRevisionId: revisionId(planned, release),
      content,
      overrides: noOverrides,
      template: { content, settings },
      ownSettings: {},
      replicas: planned.replicas,
    }
    const refusal = this.simulation.store.create(service, user, planned.queuePriority)
    if (refusal === null) this.#services.set(planned.name, id)
    else this.#addLine(this.simulation.store.now, planned.name, `Not created: ${refusal.message}`)
  }

  #runAction(action: Action): void {
    const { simulation } = this
    switch (action.kind) {
      case 'expect':
        this.#checkExpectation(action.expectation)
        return
      case 'host':
        this.#changeHosts(action)
        return
      case 'quota': {
        const project = simulation.store.projects.get(action.project as ProjectId)
        if (project === undefined) return
        project.maxReplicas = action.maxReplicas
        simulation.wakePlacement()
        this.#addLine(
          simulation.store.now,
          project.name,
          `${user} set maxReplicas of project ${project.name} to ${action.maxReplicas ?? 'no limit'}.`,
        )
        return
      }
      default: {
        const service = this.service(action.service)
        if (service === undefined)
          this.#addLine(simulation.store.now, action.service, `There is no service ${action.service} now.`)
        else if (action.kind === 'fail') this.#failReplicas(service, action.how, action.which)
        else this.#submitAction(service, action)
      }
    }
  }

  #changeHosts({ hosts, count, becomes }: Extract<Action, { kind: 'host' }>): void {
    const { hostAccidents, hosts: simulated } = this.simulation
    const all = hosts.flatMap((name) => this.#hosts.get(name) ?? [])
    const chosen = count === null ? all : this.#someOf(all, count)
    switch (becomes) {
      case 'UP':
        this.#addHostsLine('Up', chosen)
        hostAccidents.rise(chosen)
        return
      case 'DOWN':
      case 'SILENT':
        this.#addHostsLine(becomes === 'DOWN' ? 'Down' : 'Silent', chosen)
        hostAccidents.fall(chosen, becomes)
        return
      case 'LOST':
        simulated.write(chosen.map((host) => [host, { kind: 'confirmHostLoss', name: host.name, actor: user }]))
        return
      default:
        simulated.write(
          chosen.map((host) => [host, { kind: 'scheduleHost', name: host.name, scheduling: becomes, actor: user }]),
        )
    }
  }

  #addHostsLine(what: string, hosts: readonly HostLedger[]): void {
    const first = hosts[0]?.name ?? ''
    const which = hosts.length === 1 ? `host ${first}` : `${hosts.length} hosts, the first of them ${first}`
    this.#addLine(this.simulation.store.now, first, `${what}: ${which}.`)
  }

  #submitAction(service: SimulatedService, action: UserAction): void {
    const intent = this.#intentOf(service, action)
    const outcomes: readonly Outcome[] =
      typeof intent === 'string' ? [] : this.simulation.store.submit(service.snapshot.id, intent)
    const [outcome] = outcomes
    const refusal = typeof intent === 'string' ? intent : outcome?.kind === 'refused' ? outcome.refusal.message : null
    if (refusal !== null)
      this.#addLine(this.simulation.store.now, service.snapshot.name, `${action.kind} was refused: ${refusal}`)
  }

  /** Makes the intent of an action, or says in a text why there is none. */
  #intentOf(service: SimulatedService, action: UserAction): ServiceIntent | string {
    const { snapshot } = service
    const byUser = { expectedRevision: null, actor: user } as const
    const rolloutId = this.#newId() as RolloutId
    switch (action.kind) {
      case 'scale':
        return { kind: 'scale', ...byUser, replicas: action.replicas }
      case 'update': {
        const planned = this.#scenarioServices.get(snapshot.name)
        const release = planned?.releases.find(({ name }) => name === action.release)
        const profile =
          release === undefined || planned === undefined
            ? null
            : { id: revisionId(planned, release), content: release.content, settings: release.settings }
        const { replicas, rollout, startPaused } = action
        return {
          kind: 'update',
          ...byUser,
          profile,
          overrides: {},
          replicas,
          queue: null,
          metadata: {},
          settings: rollout,
          startPaused,
          rolloutId,
        }
      }
      case 'rollback': {
        if (action.toVersion === null) return { kind: 'rollback', ...byUser, to: null, rolloutId }
        const to = service.versions.get(action.toVersion)
        return to === undefined
          ? `there is no version ${action.toVersion}.`
          : { kind: 'rollback', ...byUser, to, rolloutId }
      }
      case 'restart':
        return { kind: 'restart', ...byUser, rolloutId }
      case 'pause':
      case 'resume':
      case 'delete':
        return { kind: action.kind, ...byUser }
      case 'resetBackoff':
        return { kind: 'resetBackoff', actor: user }
      case 'kill': {
        const row = activeAt(service, action.index)
        return row === undefined
          ? `no active replica has index ${action.index}.`
          : { kind: 'kill', replica: row.id, actor: user }
      }
    }
  }

  /** Lets something happen to processes: they end, or their probes have another result. */
  #failReplicas(service: SimulatedService, how: 'crash' | 'unready' | 'ready', which: Which): void {
    const { simulation } = this
    const rows =
      'indexes' in which
        ? which.indexes.flatMap((index) => activeAt(service, index) ?? [])
        : this.#someOf(runningOf(service), which.count)
    const reports = rows.flatMap((row) =>
      how === 'crash'
        ? simulation.workers.crash(row.id, 1, simulation.store.now)
        : simulation.workers.probe(row.id, how === 'ready'),
    )
    const { id, name } = service.snapshot
    const indexes = rows.map((row) => row.index).join(', ')
    const what = {
      crash: 'ends without being stopped',
      unready: 'fails its readiness probe',
      ready: 'passes its readiness probe',
    }[how]
    this.#addLine(
      simulation.store.now,
      name,
      rows.length === 0 ? 'No replica runs that could fail.' : `The process of ${name}[${indexes}] ${what}.`,
    )
    simulation.report(id, reports)
  }

  #someOf<T>(all: readonly T[], count: number): T[] {
    const left = [...all]
    const chosen: T[] = []
    while (chosen.length < count && left.length > 0)
      chosen.push(...left.splice(Math.floor(this.#random.next() * left.length), 1))
    return chosen
  }

  #checkExpectation(expectation: Parameters<typeof unmet>[0]): void {
    for (const message of unmet(expectation, this.service(expectation.service))) {
      this.failures++
      this.#onLine({ at: this.simulation.store.now, subject: expectation.service, message, isFault: true })
    }
  }

  #addLine(at: Instant, subject: string, message: string): void {
    this.#onLine({ at, subject, message, isFault: false })
  }

  #addFaultLines(): void {
    const { faults } = this.simulation.store
    for (; this.#faultsShown < faults.length; this.#faultsShown++) {
      const fault = faults[this.#faultsShown]
      if (fault === undefined) continue
      const message = `An invariant is broken. ${fault.message}`
      this.#onLine({ at: fault.at, subject: fault.serviceId ?? 'cluster', message, isFault: true })
    }
  }
}

function activeAt(service: SimulatedService, index: number): Replica | undefined {
  for (const row of service.snapshot.replicas.values()) if (row.index === index && isActive(row)) return row
  return undefined
}

function runningOf({ snapshot }: SimulatedService): Replica[] {
  return [...snapshot.replicas.values()].filter((row) => row.state === 'RUNNING')
}

function revisionId(service: ScenarioService, release: Release): ProfileRevisionId {
  return `${service.name}/${release.name}` as ProfileRevisionId
}
