import type { Assignment } from '../assignment.ts'

/** The variables that a replica takes over from the worker's environment. It gets no other, above all no setting. */
const inherited = ['PATH', 'LANG', 'LANGUAGE', 'TZ', 'USER', 'LOGNAME', 'SHELL']

/**
 * A replica's environment (R13). The user's variables replace inherited ones, and the variables that the system promises
 * replace the user's.
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
  // A replica must not find the worker's home, where keys and tokens are.
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
  environment['XCE_REPLICA_DIRECTORY'] = ownDirectory
  return environment
}

/** `XCE_PORT_<NAME>`, in upper case and with `_` for `-`. */
export function portVariable(portName: string): string {
  return `XCE_PORT_${portName.toUpperCase().replaceAll('-', '_')}`
}
