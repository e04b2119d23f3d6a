import { defaultPortRange } from './bounds.ts'

/** What a worker offers: where it is, and how much of its host it gives to replicas. */
export interface WorkerOffer {
  readonly name: string
  readonly host: string
  /** The host's addresses, the primary one first. */
  readonly addresses: readonly string[]
  readonly cpuMillis: number
  readonly memoryMiB: number
  readonly portRange: { readonly from: number; readonly to: number }
  /** Ports of the range that replicas do not get. */
  readonly reservedPorts: readonly number[]
}

/** What a worker says about itself when it registers. */
export interface RegisteringWorker extends WorkerOffer {
  readonly softwareVersion: string
  readonly protocolVersion: number
  /** The id of its state directory, which tells a restart from another worker. */
  readonly instance: string
  /**
   * The number of this registration among those of its state directory, by which a late one is recognised. If it is
   * left out or null, the worker does not say.
   */
  readonly registrationNumber?: number | null | undefined
}

interface OfferHelp {
  readonly does: string
  /** The value that is used where the variable is not set, or where that value comes from. */
  readonly unset: { readonly value: string } | { readonly taken: string }
}

/** The meaning of the variables that an offer is read from. */
export const offerHelp = {
  XCE_WORKER_NAME: { does: "the worker's name, the same at every start", unset: { taken: 'the name of its host' } },
  XCE_WORKER_HOST: {
    does: 'the name of the host it runs replicas on; workers of one host share its ports',
    unset: { taken: "this machine's name" },
  },
  XCE_WORKER_ADDRESSES: {
    does: 'IP addresses of the host, separated by commas, the primary one first',
    unset: { taken: 'found automatically' },
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
