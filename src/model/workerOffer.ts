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
