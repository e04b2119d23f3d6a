import { readFile } from 'node:fs/promises'
import { isIPv4 } from 'node:net'
import path from 'node:path'
import { offerHelp } from '../model/workerOffer.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Where the local worker has its things, in the server's data directory. */
export function localWorkerFiles(dataDirectory: string) {
  const at = (name: string) => path.join(dataDirectory, name)
  return { serverUrl: at('server-url'), token: at('worker-token'), stateDirectory: at('worker'), log: at('worker.log') }
}

/**
 * The environment of the local worker: the server's, without the server's own settings and secrets. `host`: what the server listens on. One that
 * only this machine reaches has clients on this machine only: endpoints show the same address then, unless XCE_WORKER_ADDRESSES says otherwise.
 */
export function localWorkerEnvironment(
  env: Environment,
  { host, dataDirectory }: { host: string; dataDirectory: string },
): Environment {
  const files = localWorkerFiles(dataDirectory)
  const isPassed = (name: string) =>
    name in offerHelp || name === 'XCE_LOG_LEVEL' || (name !== 'DATABASE_URL' && !name.startsWith('XCE_'))
  return {
    ...(isLoopback(host) ? { XCE_WORKER_ADDRESSES: host } : {}),
    ...Object.fromEntries(
      Object.entries(env).filter(([name, value]) => isPassed(name) && (value !== '' || !(name in offerHelp))),
    ),
    XCE_WORKER_SERVER_FILE: files.serverUrl,
    XCE_WORKER_TOKEN_FILE: files.token,
    XCE_WORKER_STATE_DIR: files.stateDirectory,
    // It keeps it small itself, also while no server runs.
    XCE_WORKER_LOG_FILE: files.log,
  }
}

/** Settings that a worker of before was started with and that are others now, each as a phrase. */
export async function otherSettings(pid: number, environment: Environment): Promise<string[]> {
  // The system tells them of a process of the same user; one that ended meanwhile has none.
  const text = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => null)
  if (text === null) return []
  const before = Object.fromEntries(
    text.split('\0').map((entry) => [entry.split('=', 1)[0] ?? '', entry.slice(entry.indexOf('=') + 1)]),
  )
  const told = (value: string | undefined) => (value ? JSON.stringify(value) : 'not set')
  return [...Object.keys(offerHelp), 'XCE_LOG_LEVEL'].flatMap((name) =>
    (before[name] || undefined) === (environment[name] || undefined)
      ? []
      : [`${name} was ${told(before[name])} and is ${told(environment[name])}`],
  )
}

function isLoopback(host: string): boolean {
  return host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}
