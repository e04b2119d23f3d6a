import type { LostContact, PortProtocol } from '../generated/prisma/enums.ts'
import type { Settings } from './settings.ts'

export interface EnvironmentVariable {
  readonly name: string
  readonly value: string
  /** Never shown by the API. */
  readonly secret: boolean
}

/** `port` null: any free one. */
export interface PortDeclaration {
  readonly name: string
  readonly port: number | null
  readonly protocol: PortProtocol
}

export interface AllocatedPort {
  readonly name: string
  readonly port: number
  readonly protocol: PortProtocol
}

export type ProbeAction =
  | { readonly kind: 'http'; readonly port: string; readonly path: string }
  | { readonly kind: 'tcp'; readonly port: string }
  | { readonly kind: 'exec'; readonly command: readonly string[] }

export interface Probe {
  readonly action: ProbeAction
  readonly initialDelaySeconds: number
  readonly periodSeconds: number
  readonly timeoutSeconds: number
  readonly failureThreshold: number
  readonly successThreshold: number
}

/** Restarts in place: at most `maxAttempts` within `windowSeconds`, then GAVE_UP. The first is at once, later ones wait `delaySeconds`. */
export interface RestartPolicy {
  readonly maxAttempts: number
  readonly windowSeconds: number
  readonly delaySeconds: number
}

export interface StopPolicy {
  /** Without "SIG", for example TERM. */
  readonly signal: string
  /** Between the address leaving the endpoint and the signal. */
  readonly drainSeconds: number
  /** Between the signal and SIGKILL. */
  readonly graceSeconds: number
  readonly onLostContact: LostContact
}

/** What of a version makes its replicas differ from another's (DESIGN, section 4). Settings are not content. */
export interface Content {
  readonly command: readonly string[]
  readonly env: readonly EnvironmentVariable[]
  readonly workingDirectory: string | null
  readonly ports: readonly PortDeclaration[]
  readonly cpuMillis: number
  readonly memoryMiB: number
  readonly readiness: Probe | null
  readonly liveness: Probe | null
  readonly restart: RestartPolicy
  readonly stop: StopPolicy
}

/**
 * What a profile's revision says of all that the service's own part may replace, and its settings: an update that keeps the profile begins
 * with these.
 */
export interface Template {
  readonly command: readonly string[]
  readonly env: readonly EnvironmentVariable[]
  readonly settings: Settings
}

/** The service's own part over the profile's. */
export interface Overrides {
  /** Null: the profile's. */
  readonly command: readonly string[] | null
  /** By name over the profile's; value null removes it. */
  readonly env: readonly { readonly name: string; readonly value: string | null; readonly secret: boolean }[]
}
