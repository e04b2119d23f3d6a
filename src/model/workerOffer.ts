/** What a worker offers: where it is, and what of its host is for replicas. */
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
  readonly stateDirectoryId: string
  /** The number of this registration among those of its state directory, from 1, by which a late one is recognised. */
  readonly registrationNumber: number
}
