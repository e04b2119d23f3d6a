import type { LostContact, PortProtocol, RestartMode } from '../generated/prisma/enums.ts'
import type { Settings } from './settings.ts'

export interface EnvironmentVariable {
  readonly name: string
  readonly value: string
  /** A secret value is never shown by the API. */
  readonly secret: boolean
}

/** A variable as a user gives it. Without a value it keeps the secret that is stored under its name. */
export type GivenVariable = Omit<EnvironmentVariable, 'value'> & { readonly value: string | null }

/** A port that a replica asks for; `port` is null where any free one will do. */
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

export interface HttpHeader {
  readonly name: string
  readonly value: string
}

export interface HttpProbeAction {
  readonly kind: 'http'
  readonly port: string
  readonly path: string
  /** The certificate of a replica that is asked by HTTPS is not verified. */
  readonly scheme: 'HTTP' | 'HTTPS'
  /** They replace the headers that the probe sends otherwise, Host for example. */
  readonly headers: readonly HttpHeader[]
}

export type ProbeAction =
  | HttpProbeAction
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

/**
 * After the ends that `mode` names a process is restarted in place, at most `maxAttempts` times within `windowSeconds`;
 * then the replica has GAVE_UP as its end. The first restart comes at once, later ones after `delaySeconds`.
 */
export interface RestartPolicy {
  readonly mode: RestartMode
  readonly maxAttempts: number
  readonly windowSeconds: number
  readonly delaySeconds: number
}

export interface StopPolicy {
  /** The name of the signal without "SIG", for example TERM. */
  readonly signal: string
  /** The time from when the address leaves the endpoint to the signal. */
  readonly drainSeconds: number
  /** The time from the signal to SIGKILL. */
  readonly graceSeconds: number
  readonly onLostContact: LostContact
}

/**
 * The part of a version that makes its replicas differ from another's (src/rules/README.md, "Terms of the formulas"). Settings are not content.
 */
export interface Content {
  readonly command: readonly string[]
  readonly env: readonly EnvironmentVariable[]
  readonly workingDirectory: string | null
  readonly ports: readonly PortDeclaration[]
  readonly cpuMillis: number
  readonly memoryMiB: number
  /** The other probes wait until this one has succeeded once in a start. */
  readonly startup: Probe | null
  readonly readiness: Probe | null
  readonly liveness: Probe | null
  readonly restart: RestartPolicy
  readonly stop: StopPolicy
}

/**
 * The profile revision's own values for everything that the service's own part may replace, and its settings. An update
 * that keeps the profile begins with these.
 */
export interface Template {
  readonly content: Content
  readonly settings: Settings
}

/** What a service may have in place of its profile's: each value as a whole. */
export type Replaceable = Omit<Content, 'env'>

/** The service's own part, which is laid over the profile's. A null value means the profile's. */
export interface Overrides extends Own<Replaceable> {
  /** Variables replace the profile's by name. */
  readonly env: readonly EnvironmentVariable[]
  /** The names of the profile's variables that replicas of the service do not get. None of them is in `env`. */
  readonly unsetEnv: readonly string[]
}

type Own<Values> = { readonly [Key in keyof Values]: Values[Key] | null }

/** A change of the service's own part. Fields left out change nothing, and null goes back to the profile's value. */
export interface OverridesChange extends Partial<Own<Replaceable>> {
  /** Replaces the service's own variables; null goes back to the profile's environment. */
  readonly env?: readonly GivenVariable[] | null
  readonly setEnv?: readonly GivenVariable[]
  readonly unsetEnv?: readonly string[]
}
