import { readFile } from 'node:fs/promises'
import { isIPv4 } from 'node:net'
import path from 'node:path'
import type { Environment } from '../settings/setting.ts'
import { offerSettings } from '../worker/settings/offerSettings.ts'

/** The local worker logs as the server does. */
const logSettings: readonly string[] = ['XCE_LOG_LEVEL', 'XCE_LOG_FORMAT']

/** The paths of the local worker's files, which are in the server's data directory. */
export function localWorkerFiles(dataDirectory: string) {
  const at = (name: string) => path.join(dataDirectory, name)
  return { serverUrl: at('server-url'), token: at('worker-token'), stateDirectory: at('worker'), log: at('worker.log') }
}

/**
 * The environment of the local worker: the server's, without the server's own settings and secrets. `host` is the address
 * on which the server listens. If only this machine reaches it, the clients are on this machine too, so endpoints show
 * the same address, unless XCE_WORKER_ADDRESSES says otherwise.
 */
export function localWorkerEnvironment(
  env: Environment,
  { host, dataDirectory }: { host: string; dataDirectory: string },
): Environment {
  const files = localWorkerFiles(dataDirectory)
  const isPassed = (name: string) =>
    name in offerSettings || logSettings.includes(name) || (name !== 'DATABASE_URL' && !name.startsWith('XCE_'))
  return {
    ...(isLoopback(host) ? { XCE_WORKER_ADDRESSES: host } : {}),
    ...Object.fromEntries(
      Object.entries(env).filter(([name, value]) => isPassed(name) && (value !== '' || !(name in offerSettings))),
    ),
    XCE_WORKER_SERVER_FILE: files.serverUrl,
    XCE_WORKER_TOKEN_FILE: files.token,
    XCE_WORKER_STATE_DIR: files.stateDirectory,
    // The worker rotates this file itself, so it stays small also while no server runs.
    XCE_WORKER_LOG_FILE: files.log,
  }
}

/** The settings in which a running worker differs from `environment`, each as a phrase. */
export async function otherSettings(pid: number, environment: Environment): Promise<string[]> {
  // The system shows the environment of a process only to its user, and no longer once the process has ended.
  const text = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => null)
  if (text === null) return []
  const running = Object.fromEntries(
    text.split('\0').map((entry) => [entry.split('=', 1)[0] ?? '', entry.slice(entry.indexOf('=') + 1)]),
  )
  const describe = (value: string | undefined) => (value ? JSON.stringify(value) : 'not set')
  return [...Object.keys(offerSettings), ...logSettings].flatMap((name) =>
    (running[name] || undefined) === (environment[name] || undefined)
      ? []
      : [`${name} was ${describe(running[name])} and is ${describe(environment[name])}`],
  )
}

function isLoopback(host: string): boolean {
  return host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}
