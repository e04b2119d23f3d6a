import type { Assignment } from '../assignment.ts'

/** What a replica takes over from the worker's own environment. Everything else, the worker's settings first, stays with the worker. */
const inherited = ['PATH', 'LANG', 'LANGUAGE', 'TZ', 'USER', 'LOGNAME', 'SHELL']

/**
 * A replica's environment (R13): a minimal inherited one with the replica's own directory, over it the user's variables, over them those that the
 * system promises.
 */
export function replicaEnvironment(
  assignment: Assignment,
  hostAddress: string | null,
  ownDirectory: string,
  own: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && (inherited.includes(name) || name.startsWith('LC_'))) environment[name] = value
  }
  environment['PATH'] ??= '/usr/local/bin:/usr/bin:/bin'
  // Not the worker's: what is under its home, above all keys and tokens, is none of a replica's business.
  environment['HOME'] = environment['TMPDIR'] = ownDirectory
  for (const { name, value } of assignment.env) environment[name] = value
  const [only, ...others] = assignment.ports
  if (only !== undefined && others.length === 0) environment['PORT'] = String(only.port)
  for (const port of assignment.ports) environment[portVariable(port.name)] = String(port.port)
  environment['XCE_HOST_ADDRESS'] = hostAddress ?? ''
  environment['XCE_PROJECT'] = assignment.project
  environment['XCE_SERVICE'] = assignment.service
  environment['XCE_REPLICA_INDEX'] = String(assignment.index)
  environment['XCE_REPLICA_ID'] = assignment.replica
  environment['XCE_VERSION'] = String(assignment.versionNumber)
  return environment
}

/** `XCE_PORT_<NAME>`: upper case, `-` as `_`. */
export function portVariable(portName: string): string {
  return `XCE_PORT_${portName.toUpperCase().replaceAll('-', '_')}`
}
