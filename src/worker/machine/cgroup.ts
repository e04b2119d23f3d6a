import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Assignment, ReplicaName } from '../assignment.ts'
import { type OwnCgroup, readOwnCgroup, workerLeaf } from './ownCgroup.ts'

const periodMicros = 100_000

/**
 * One child of the worker's cgroup (version 2) for each replica, which limits its memory and CPU. They exist only where a
 * batch system, systemd (`Delegate` and `DelegateSubgroup`) or a container has delegated the directory to the worker.
 */
export class Cgroups {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Makes the replica's cgroup with its limits, so that the replica can join it. Throws the kernel's error. */
  create(assignment: Assignment): string {
    const directory = this.#directoryOf(assignment.replica)
    mkdirSync(directory, { recursive: true })
    writeFileSync(path.join(directory, 'memory.max'), String(assignment.memoryMiB * 1_048_576))
    writeFileSync(
      path.join(directory, 'cpu.max'),
      `${Math.max(1_000, Math.round((assignment.cpuMillis * periodMicros) / 1_000))} ${periodMicros}`,
    )
    return directory
  }

  /** Whether the kernel has killed a process of the replica because of its memory. */
  outOfMemory(replica: ReplicaName): boolean {
    try {
      const events = readFileSync(path.join(this.#directoryOf(replica), 'memory.events'), 'utf8')
      return /^oom_kill [1-9]/m.test(events)
    } catch {
      return false
    }
  }

  /** Removes the cgroup after killing what is left in it, also processes that left the replica's session. */
  remove(replica: ReplicaName): void {
    try {
      writeFileSync(path.join(this.#directoryOf(replica), 'cgroup.kill'), '1')
      rmdirSync(this.#directoryOf(replica))
    } catch {
      // It is missing, or its last process is not collected yet: the next start of this replica uses it again.
    }
  }

  #directoryOf(replica: ReplicaName): string {
    return path.join(this.#directory, `xce-${replica}`)
  }
}

/**
 * The cgroups of the replicas, or the reason why the worker may not divide its own cgroup, as a sentence. The kernel
 * allows processes in leaves only, so the worker moves itself into a leaf. systemd starts a unit's process in the unit's
 * own cgroup, which the kernel refuses once that cgroup is divided and replicas run in it: the worker would never start
 * again. So a unit's cgroup is divided only where systemd starts the worker in the leaf.
 */
export function openCgroups(own: OwnCgroup | null = readOwnCgroup()): Cgroups | string {
  const nothing = 'so memory and CPU of replicas are reserved and not enforced'
  if (own === null) return `This machine has no unified cgroup (version 2), ${nothing}.`
  const { directory, isInLeaf } = own
  try {
    const controllers = readFileSync(path.join(directory, 'cgroup.controllers'), 'utf8').split(/\s+/)
    const missing = ['memory', 'cpu'].filter((name) => !controllers.includes(name))
    if (missing.length > 0) return `The cgroup ${directory} has no ${missing.join(' and no ')} controller, ${nothing}.`
    if (!isInLeaf && directory.endsWith('.service')) {
      return `The cgroup ${directory} belongs to a systemd unit without DelegateSubgroup=${workerLeaf} (systemd 254 or later), ${nothing}.`
    }
    const others = readFileSync(path.join(directory, 'cgroup.procs'), 'utf8')
      .split('\n')
      .filter((pid) => pid !== '' && pid !== String(process.pid))
    if (others.length > 0) return `The cgroup ${directory} holds other processes than this worker, ${nothing}.`
    const leaf = path.join(directory, workerLeaf)
    mkdirSync(leaf, { recursive: true })
    writeFileSync(path.join(leaf, 'cgroup.procs'), String(process.pid))
    writeFileSync(path.join(directory, 'cgroup.subtree_control'), '+memory +cpu')
    return new Cgroups(directory)
  } catch (error) {
    return `The cgroup ${directory} is not delegated to the worker (${(error as Error).message}), ${nothing}.`
  }
}
