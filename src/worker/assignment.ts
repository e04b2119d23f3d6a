import type { AllocatedPort, Probe, RestartPolicy, StopPolicy } from '../model/content.ts'
import type { ReplicaReport } from '../model/intent.ts'
import type { ReportedProbe } from '../model/lastProbe.ts'

/** A replica's global id, for example `Replica_01890a5d-…`. It names files, so no other characters are accepted. */
export type ReplicaName = string

const pattern = /^[A-Za-z]+_[A-Za-z0-9-]{1,64}$/

export function isReplicaName(text: string): boolean {
  return pattern.test(text)
}

/** A server's order for one replica on this worker. Only the goal changes during a replica's life. */
export interface Assignment {
  readonly replica: ReplicaName
  readonly goal: 'RUN' | 'STOP'
  readonly service: string
  readonly project: string
  readonly index: number
  readonly versionNumber: number
  readonly command: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly workingDirectory: string | null
  readonly ports: readonly AllocatedPort[]
  /** CPU and memory are reserved by placement, and enforced where cgroups are delegated to the worker. */
  readonly cpuMillis: number
  readonly memoryMiB: number
  readonly startup: Probe | null
  readonly readiness: Probe | null
  readonly liveness: Probe | null
  readonly restart: RestartPolicy
  readonly stop: StopPolicy
}

/** The state of one replica that this worker observed. `exitSignal` is without "SIG", as in the stop policy. */
export type Report = Omit<ReplicaReport, 'replica' | 'ports'> & {
  readonly replica: ReplicaName
  readonly ports: readonly number[]
}

/** The ports, which distinguish this placement of a replica from its other placements (R13). */
export function portsOf({ ports }: Assignment): readonly number[] {
  return ports.map(({ port }) => port)
}

/** True when both lists of ports belong to the same placement of a replica. */
export function samePlacement(a: readonly number[], b: readonly number[]): boolean {
  return a.join() === b.join()
}

export function sameReport(a: Report, b: Report): boolean {
  return (
    a.start === b.start &&
    a.state === b.state &&
    a.ready === b.ready &&
    sameProbe(a.probe, b.probe) &&
    a.endReason === b.endReason &&
    a.exitCode === b.exitCode &&
    a.exitSignal === b.exitSignal &&
    a.message === b.message
  )
}

function sameProbe(a: ReportedProbe | null, b: ReportedProbe | null): boolean {
  if (a === null || b === null) return a === b
  return a.kind === b.kind && a.ok === b.ok && a.message === b.message && a.count === b.count
}
