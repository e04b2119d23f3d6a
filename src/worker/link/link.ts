import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { graceSeconds, leaseSeconds } from '../../model/bounds.ts'
import { orAbort } from '../abort.ts'
import { ContactFile } from '../files/contactFile.ts'
import type { Supervisor } from '../process/supervisor.ts'
import type { Servers, WorkerSettings } from '../settings/settings.ts'
import { isServerUrl } from '../settings/settings.ts'
import { type EndWorkerData, endWorker } from './api.ts'
import { Connection, RefusedError } from './connection.ts'
import { LostContact } from './lostContact.ts'
import type { Outbox } from './outbox.ts'
import type { PortWatch } from './portWatch.ts'
import { reconnectMillis } from './reconnect.ts'
import { payload, type Registration, register } from './registration.ts'
import { type SessionFollower, WorkerSession } from './workerSession.ts'

export interface LinkOptions {
  readonly settings: WorkerSettings
  readonly softwareVersion: string
  readonly stateDirectoryId: string
  readonly supervisor: Supervisor
  readonly outbox: Outbox
  readonly portWatch: PortWatch
  readonly drain: SessionFollower
  readonly log: Logger
  /** Ends the link. */
  readonly signal: AbortSignal
}

/** A session of this length shows that the servers are well, so that earlier failures count no longer. */
const steadyMillis = 2_000

/** How long a worker that ends tries to tell a server so. */
const endMillis = 3_000

/**
 * Keeps this worker connected to one of the servers, whichever it is. A registration survives reconnects. A fenced worker
 * stops all its replicas and registers again.
 */
export class Link {
  readonly #options: LinkOptions
  #registration: Registration | null = null
  #session: WorkerSession | null = null
  readonly #contact: LostContact
  #sequence = 0
  /** The time of the last registration, on the monotonic clock. */
  #registeredAt = Number.NEGATIVE_INFINITY
  /** The index of the server that was tried last; it starts at random, so that workers spread over the servers. */
  #serverIndex = Math.floor(Math.random() * 1_000)

  constructor(options: LinkOptions) {
    this.#options = options
    const file = new ContactFile(options.settings.stateDirectory, options.log)
    this.#contact = new LostContact(file, leaseSeconds + graceSeconds, () => {
      options.log.warn(
        'no server was reached for longer than lease and grace: the replicas that are to stop then are stopped',
      )
      options.supervisor.stopWithoutContact()
    })
  }

  /** Resolves when `signal` aborts. */
  async run(): Promise<void> {
    const { signal, log, settings, drain } = this.#options
    signal.addEventListener('abort', () => this.#contact.close(), { once: true })
    for (let failures = 0; !signal.aborted; ) {
      const began = performance.now()
      const { error, url, connected } = await this.#connectOnce()
      if (signal.aborted) return
      const isFought = isFenced(error) && performance.now() - this.#registeredAt < steadyMillis
      if (isFenced(error)) {
        await this.#stopFencedReplicas()
        if (signal.aborted) return
        if (isFought)
          log.warn(
            'fenced as soon as it had registered: another worker may use a copy of this state directory, which belongs to one worker only',
          )
        else {
          failures = 0
          continue
        }
      }
      if (!connected || this.#registration === null) drain.unreached()
      failures = performance.now() - began > steadyMillis && !isFought ? 0 : failures + 1
      // Never wait longer than a third of the lease, or a short outage becomes a lost lease.
      const most =
        settings.servers.kind === 'file' ? 1_000 : ((this.#registration?.leaseSeconds ?? leaseSeconds) * 1_000) / 3
      const servers = settings.servers.kind === 'file' ? 1 : settings.servers.urls.length
      const waitAfter = (failed: number): number => reconnectMillis(failed, servers, most, Math.random())
      // A short session counts as a failure, and the other workers of its server have lost it too.
      const waitMillis = connected ? Math.max(waitAfter(0), waitAfter(failures)) : waitAfter(failures)
      log.warn({ waitMillis }, `not connected${url === null ? '' : ` to ${url}`}: ${this.#explain(error)}`)
      await wait(waitMillis, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Reports that no replica is ready any more, if a server is connected: the worker is about to stop its replicas. */
  async retire(): Promise<void> {
    try {
      await this.#session?.retire()
    } catch (error) {
      this.#options.log.warn({ err: error }, 'it could not be reported that the replicas are not ready any more')
    }
  }

  /**
   * Tells a server that this worker ends and runs nothing any more, so that nobody waits for its lease and grace. It is
   * called after `run`, and uses a socket of its own.
   */
  async sayEnd(): Promise<void> {
    if (this.#registration === null) return
    const { worker, epoch } = this.#registration
    const { servers, tokenFile, name } = this.#options.settings
    let connection: Connection | null = null
    try {
      const [url, token] = [await this.#nextServer(servers), await readToken(tokenFile)]
      connection = await Connection.open({ url, token, tokenFile, worker: name }, AbortSignal.timeout(endMillis))
      const answer = await connection.request<EndWorkerData>(endWorker, { input: { worker, epoch } }, endMillis)
      payload(answer.endWorker)
    } catch (error) {
      this.#options.log.warn(
        { err: error },
        'no server could be told that the worker has ended: its host is lost after its lease and grace',
      )
    } finally {
      connection?.close()
    }
  }

  /** Lives through one socket. Resolves with what ended it, the server that was tried, and whether that had answered. */
  async #connectOnce(): Promise<{ error: Error; url: string | null; connected: boolean }> {
    const { settings, signal, log, supervisor, outbox, portWatch, drain } = this.#options
    let connection: Connection | null = null
    let tried: string | null = null
    const onEnd = (): void => connection?.close()
    signal.addEventListener('abort', onEnd)
    try {
      const url = await this.#nextServer(settings.servers)
      const { tokenFile, name: worker } = settings
      const token = await readToken(tokenFile)
      tried = url
      connection = await Connection.open({ url, token, tokenFile, worker }, signal)
      log.info({ url }, 'connected')
      // The servers may have been restarted with another lease.
      if (this.#registration !== null)
        this.#registration = { ...this.#registration, ...connection.greeting.workerLease }
      this.#registration ??= await this.#registerWith(connection)
      const nextSequence = (): number => ++this.#sequence
      const parts = { supervisor, outbox, portWatch, contact: this.#contact, drain, log, nextSequence }
      this.#session = new WorkerSession(connection, this.#registration, parts)
      return await this.#session.run()
    } catch (error) {
      return {
        error: error instanceof Error ? error : new Error(String(error)),
        url: tried,
        connected: connection !== null,
      }
    } finally {
      signal.removeEventListener('abort', onEnd)
      this.#session = null
      connection?.close()
    }
  }

  /** Adds what the server can't know when it refuses a registration: the token's file, and the replicas that run on. */
  #explain(error: Error): string {
    if (!(error instanceof RefusedError) || this.#registration !== null) return error.message
    const sentences = [error.message]
    if (error.code === 'FORBIDDEN') sentences.push(`The token is the one in ${this.#options.settings.tokenFile}.`)
    const running = this.#options.supervisor.reports().filter(({ state }) => state !== 'ENDED').length
    if (running > 0) {
      const these = running === 1 ? 'An earlier replica runs' : `${running} earlier replicas run`
      sentences.push(
        `${these} on here and may have been replaced elsewhere: a server that accepts this worker, also under another XCE_WORKER_NAME, names those to stop; SIGUSR2 stops everything now.`,
      )
    }
    return sentences.join(' ')
  }

  async #registerWith(connection: Connection): Promise<Registration> {
    const { settings, softwareVersion, stateDirectoryId, supervisor, outbox, portWatch, log } = this.#options
    const running = supervisor.reports()
    // Later changes are reported under the new registration. Ends are reported again, in case the server takes only running replicas from it.
    outbox.reset(running.filter(({ state }) => state === 'ENDED'))
    const sentAt = this.#contact.mark()
    const { registration, stop, portsToWatch } = await register(
      connection,
      settings,
      { softwareVersion, stateDirectoryId },
      running,
      log,
    )
    this.#contact.heard(sentAt, registration.leaseSeconds + registration.graceSeconds)
    this.#registeredAt = performance.now()
    this.#sequence = 0
    portWatch.replace(portsToWatch)
    for (const replica of stop) supervisor.release(replica, { drain: false })
    return registration
  }

  /** Others may run in place of a fenced worker's replicas, so these must be gone before it takes new assignments. */
  async #stopFencedReplicas(): Promise<void> {
    const { log, supervisor, signal } = this.#options
    log.warn('fenced: this worker stops all its replicas and registers again')
    this.#registration = null
    // A signal to end does not wait: the next worker knows from the records which replicas are stopping.
    await orAbort(supervisor.releaseAll({ drain: false }), signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
  }

  async #nextServer(servers: Servers): Promise<string> {
    if (servers.kind === 'file') {
      const url = await readText(servers.file, 'XCE_WORKER_SERVER_FILE')
      if (!isServerUrl(url))
        throw new Error(`The file ${servers.file} holds ${JSON.stringify(url)}, which is not the URL of a server.`)
      return url
    }
    this.#serverIndex = (this.#serverIndex + 1) % servers.urls.length
    return servers.urls[this.#serverIndex] ?? ''
  }
}

/** The text of a file that a setting names; it is read at every connect, because it may change. */
async function readText(file: string, setting: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new Error(`The file ${file} (${setting}) can't be read: ${why}.`)
  }
}

async function readToken(file: string): Promise<string> {
  const token = await readText(file, 'XCE_WORKER_TOKEN_FILE')
  if (token === '')
    throw new Error(`The file ${file} (XCE_WORKER_TOKEN_FILE) is empty: copy a server's worker-token to it.`)
  return token
}

function isFenced(error: Error): boolean {
  return error instanceof RefusedError && error.code === 'FENCED'
}
