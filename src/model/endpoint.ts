import type { PortProtocol } from '../generated/prisma/enums.ts'
import type { ReplicaId } from './id.ts'

/** One address of an endpoint table (R12). It is plain data, because it lives in facts and in the feed's memory. */
export interface EndpointAddress {
  /** `replica:portName:start`, which is stable while that process listens there. */
  readonly id: string
  readonly replicaId: ReplicaId
  readonly index: number
  readonly start: number
  readonly host: string
  /** The host's primary address. */
  readonly address: string
  readonly addresses: readonly string[]
  readonly port: number
  readonly protocol: PortProtocol
  readonly portName: string
  /** The replica is effectively ready and not stopping (R9). */
  readonly ready: boolean
  /** The replica would be ready if it were not stopping: it still answers while it drains. */
  readonly serving: boolean
  readonly terminating: boolean
}

/** A view decides which addresses a subscriber sees. */
export interface EndpointView {
  /** The name of a port; null: all of them. */
  readonly port: string | null
  readonly includeNotReady: boolean
}

export function inView(address: EndpointAddress, view: EndpointView): boolean {
  return (view.port === null || view.port === address.portName) && (view.includeNotReady || address.ready)
}

/** Orders a table by index, then by port name. */
export function compareAddresses(a: EndpointAddress, b: EndpointAddress): number {
  return a.index - b.index || compareText(a.portName, b.portName) || compareText(a.id, b.id)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
