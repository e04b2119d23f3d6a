import type { Grant, PlacementHost, PlacementWorker } from '../model/host.ts'
import type { HostId, Instant } from '../model/id.ts'
import type { ServiceIntent } from '../model/intent.ts'
import { wellBehaved } from './behaviour.ts'
import { Random } from './random.ts'
import type { Replay } from './scenario.ts'
import type { Line } from './scenarioRun.ts'
import { Simulation } from './simulation.ts'

/**
 * Gives a history to the rules again, commit by commit. Reports and grants are those of the history, so there are
 * neither workers nor placement. Ids count up as they did then.
 */
export function replay({ service, startedAt, commits }: Replay, onLine: (line: Line) => void): Simulation {
  let ids = 0
  let faultsShown = 0
  const addLine = (at: Instant, message: string, isFault: boolean) =>
    onLine({ at, subject: service.name, message, isFault })
  const simulation = new Simulation({
    now: startedAt,
    newId: () => `id-${String(++ids).padStart(8, '0')}`,
    random: new Random(1),
    behaviourOf: () => wellBehaved,
    onCommit: ({ at, change }) => {
      for (const { event } of change.facts) if (event !== null) addLine(at, event.message, false)
      for (; faultsShown < simulation.store.faults.length; faultsShown++)
        addLine(at, `An invariant is broken. ${simulation.store.faults[faultsShown]?.message}`, true)
    },
  })
  const refusal = simulation.store.create(service, 'alice', 0)
  if (refusal !== null) addLine(simulation.store.now, `Not created: ${refusal.message}`, true)
  for (const commit of commits) {
    const { atMillis, intents } = commit
    simulation.store.now = atMillis
    ids = commit.ids
    for (const intent of intents) addHosts(simulation, intent)
    const outcomes = simulation.store.submit(service.id, ...intents)
    outcomes.forEach((outcome, at) => {
      if (outcome.kind === 'refused')
        addLine(atMillis, `${intents[at]?.kind} was refused: ${outcome.refusal.message}`, false)
    })
  }
  return simulation
}

/** Adds the hosts that a grant names. They have room for everything. */
function addHosts({ store }: Simulation, intent: ServiceIntent): void {
  if (intent.kind !== 'grant') return
  for (const grant of intent.grants) {
    const host = store.hosts.get(grant.hostId) ?? store.addHost(roomy(grant.hostId, grant))
    if (!host.workers.some(({ id }) => id === grant.workerId)) host.addWorker(roomyWorker(grant))
  }
}

function roomy(id: HostId, grant: Grant): PlacementHost {
  return {
    id,
    name: grant.hostName,
    addresses: grant.hostAddresses,
    scheduling: 'OPEN',
    reachability: 'REACHABLE',
    reason: null,
    allocation: 0,
    workers: [roomyWorker(grant)],
    portFrom: 1,
    portTo: 65_535,
    reservedPorts: [],
    lastPort: 0,
    takenPorts: [],
    replicasOf: new Map(),
  }
}

function roomyWorker({ workerId: id }: Grant): PlacementWorker {
  const much = { cpuMillis: Number.MAX_SAFE_INTEGER, memoryMiB: Number.MAX_SAFE_INTEGER }
  return { id, reachability: 'REACHABLE', draining: false, ...much, usedCpuMillis: 0, usedMemoryMiB: 0 }
}
