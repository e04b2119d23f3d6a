import { defaultPortRange } from './bounds.ts'

/** What a worker offers: where it is, and what of its host is for replicas. */
export interface WorkerOffer {
  readonly name: string
  readonly host: string
  /** Of the host, the primary one first. */
  readonly addresses: readonly string[]
  readonly cpuMillis: number
  readonly memoryMiB: number
  readonly portRange: { readonly from: number; readonly to: number }
  /** Of the range, yet not for replicas. */
  readonly reservedPorts: readonly number[]
}

/** What a worker tells of itself when it registers. */
export interface RegisteringWorker extends WorkerOffer {
  readonly softwareVersion: string
  readonly protocolVersion: number
  /** The id of its state directory: tells a restart from another worker. */
  readonly instance: string
  /** Of this registration among those of its state directory: one that comes late is known by it. Left out or null: it does not say. */
  readonly registrationNumber?: number | null | undefined
}

interface OfferHelp {
  readonly does: string
  /** The value, or what is taken, where it is not set. */
  readonly unset: { readonly value: string } | { readonly taken: string }
}

/** What the variables mean that an offer is read from. */
export const offerHelp = {
  XCE_WORKER_NAME: { does: "the worker's name, the same at every start", unset: { taken: 'the name of its host' } },
  XCE_WORKER_HOST: {
    does: 'the name of the host it runs replicas on; workers of one host share its ports',
    unset: { taken: "this machine's name" },
  },
  XCE_WORKER_ADDRESSES: {
    does: 'IP addresses of the host, separated by commas, the primary one first',
    unset: { taken: 'found by itself' },
  },
  XCE_WORKER_CPU_MILLIS: { does: 'CPU to give to replicas, 1000 is one core', unset: { taken: 'all cores' } },
  XCE_WORKER_MEMORY_MIB: { does: 'memory to give to replicas, in MiB', unset: { taken: 'all memory' } },
  XCE_WORKER_PORT_RANGE: {
    does: 'ports to give to replicas',
    unset: { value: `${defaultPortRange.from}-${defaultPortRange.to}` },
  },
  XCE_WORKER_RESERVED_PORTS: {
    does: 'ports of the range that are never given, separated by commas; ranges like 25000-25010 too',
    unset: { taken: 'none' },
  },
} as const satisfies Record<string, OfferHelp>
