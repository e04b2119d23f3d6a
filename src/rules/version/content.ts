import type {
  Content,
  EnvironmentVariable,
  HttpHeader,
  Overrides,
  PortDeclaration,
  Probe,
  Replaceable,
} from '../../model/content.ts'
import { withoutNulls } from '../../model/withoutNulls.ts'

/**
 * Makes the content of a version: the profile's, with the service's own part over it. Variables keep
 * the profile's order, and the service's own follow in theirs.
 */
export function mergeContent(profile: Content, overrides: Overrides): Content {
  const env = new Map<string, EnvironmentVariable>(profile.env.map((variable) => [variable.name, variable]))
  for (const name of overrides.unsetEnv) env.delete(name)
  for (const variable of overrides.env) env.set(variable.name, variable)
  const { env: _own, unsetEnv: _hidden, ...values } = overrides
  return { ...profile, ...withoutNulls<Replaceable>(values), env: [...env.values()] }
}

/** The own part of a service that has none. */
export const noOverrides: Overrides = {
  command: null,
  env: [],
  unsetEnv: [],
  workingDirectory: null,
  ports: null,
  cpuMillis: null,
  memoryMiB: null,
  startup: null,
  readiness: null,
  liveness: null,
  restart: null,
  stop: null,
}

/**
 * Two contents run the same, so replicas of one need not be replaced by replicas of the other (R5). The order of
 * variables and of ports does not matter; every other value does.
 */
export function sameContent(a: Content, b: Content): boolean {
  return (
    a === b ||
    (sameList(a.command, b.command) &&
      a.workingDirectory === b.workingDirectory &&
      a.cpuMillis === b.cpuMillis &&
      a.memoryMiB === b.memoryMiB &&
      sameNamed(a.env, b.env, sameVariable) &&
      sameNamed(a.ports, b.ports, samePort) &&
      sameProbe(a.startup, b.startup) &&
      sameProbe(a.readiness, b.readiness) &&
      sameProbe(a.liveness, b.liveness) &&
      a.restart.mode === b.restart.mode &&
      a.restart.maxAttempts === b.restart.maxAttempts &&
      a.restart.windowSeconds === b.restart.windowSeconds &&
      a.restart.delaySeconds === b.restart.delaySeconds &&
      a.stop.signal === b.stop.signal &&
      a.stop.drainSeconds === b.stop.drainSeconds &&
      a.stop.graceSeconds === b.stop.graceSeconds &&
      a.stop.onLostContact === b.stop.onLostContact)
  )
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, position) => item === b[position])
}

/** Compares two lists in which names are unique. */
function sameNamed<T extends { readonly name: string }>(
  a: readonly T[],
  b: readonly T[],
  same: (x: T, y: T) => boolean,
): boolean {
  if (a.length !== b.length) return false
  const byName = new Map(b.map((item) => [item.name, item]))
  return a.every((item) => {
    const other = byName.get(item.name)
    return other !== undefined && same(item, other)
  })
}

function sameVariable(a: EnvironmentVariable, b: EnvironmentVariable): boolean {
  return a.value === b.value && a.secret === b.secret
}

function samePort(a: PortDeclaration, b: PortDeclaration): boolean {
  return a.port === b.port && a.protocol === b.protocol
}

function sameProbe(a: Probe | null, b: Probe | null): boolean {
  if (a === null || b === null) return a === b
  return (
    sameAction(a.action, b.action) &&
    a.initialDelaySeconds === b.initialDelaySeconds &&
    a.periodSeconds === b.periodSeconds &&
    a.timeoutSeconds === b.timeoutSeconds &&
    a.failureThreshold === b.failureThreshold &&
    a.successThreshold === b.successThreshold
  )
}

function sameAction(a: Probe['action'], b: Probe['action']): boolean {
  switch (a.kind) {
    case 'http':
      return (
        b.kind === 'http' &&
        a.port === b.port &&
        a.path === b.path &&
        a.scheme === b.scheme &&
        sameHeaders(a.headers, b.headers)
      )
    case 'tcp':
      return b.kind === 'tcp' && a.port === b.port
    case 'exec':
      return b.kind === 'exec' && sameList(a.command, b.command)
  }
}

function sameHeaders(a: readonly HttpHeader[], b: readonly HttpHeader[]): boolean {
  return a.length === b.length && a.every(({ name, value }, at) => name === b[at]?.name && value === b[at]?.value)
}
