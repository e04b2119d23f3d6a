import type { PortProtocol } from '../generated/prisma/enums.ts'

/** A port of a host. */
export interface PortOfHost {
  readonly port: number
  readonly protocol: PortProtocol
}

/**
 * A fixed port that something else uses (R13). Its worker looks whether it is free, and says so, for `seconds` at most:
 * then its quarantine is over in any case.
 */
export interface WatchedPort extends PortOfHost {
  readonly seconds: number
}

/** A worker watches at most so many ports. */
export const mostWatchedPorts = 1_000
