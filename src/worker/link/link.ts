import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { graceSeconds, leaseSeconds } from '../../model/bounds.ts'
import { protocolFault, workerProtocolVersion } from '../../model/workerProtocol.ts'
import { orAbort } from '../abort.ts'
import type { Drain } from '../drain/drain.ts'
import { ContactFile } from '../files/contactFile.ts'
import type { Supervisor } from '../process/supervisor.ts'
import type { Servers, WorkerSettings } from '../settings/settings.ts'
import { apiUrl, isServerUrl } from '../settings/settings.ts'
import { Connection, RefusedError } from './connection.ts'
import { LostContact } from './lostContact.ts'
import type { Outbox } from './outbox.ts'
import { reconnectMillis } from './reconnect.ts'
import { type Registration, register } from './registration.ts'
import { WorkerSession } from './workerSession.ts'

export interface LinkOptions {
  readonly settings: WorkerSettings
  readonly softwareVersion: string
  /** Of the state directory (see instanceOf). */
  readonly instance: string
  readonly supervisor: Supervisor
  readonly outbox: Outbox
  readonly drain: Drain
  readonly log: Logger
  /** Ends it. */
  readonly signal: AbortSignal
}

/** A session that lived so long shows that the servers are well: what failed before it does not count any more. */
const steadyMillis = 2_000

/**
 * Keeps this worker connected to any one of the servers, for ever. Registered once, it stays so over reconnects; fenced, it stops what it
 * has and registers anew.
 */
export class Link {
  readonly #options: LinkOptions
  #registration: Registration | null = null
  #session: WorkerSession | null = null
  readonly #contact: LostContact
  #sequence = 0
  /** By the monotonic clock. */
  #registeredAt = Number.NEGATIVE_INFINITY
  #turn = Math.floor(Math.random() * 1_000)

  constructor(options: LinkOptions) {
    this.#options = options
    const file = new ContactFile(options.settings.stateDirectory, options.log)
    this.#contact = new LostContact(file, leaseSeconds + graceSeconds, () => {
      options.log.warn('no server was reached for longer than lease and grace: what is to stop then is stopped')
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
        await this.#startOver()
        if (signal.aborted) return
        if (isFought)
          log.warn(
            'fenced as soon as it had registered: a copy of this state directory, which is one worker’s, may be used elsewhere',
          )
        else {
          failures = 0
          continue
        }
      }
      if (!connected || this.#registration === null) drain.unreached()
      failures = performance.now() - began > steadyMillis && !isFought ? 0 : failures + 1
      // No pause is long in a lease: what was away for a moment must not be silent for longer by itself.
      const most =
        settings.servers.kind === 'file' ? 1_000 : ((this.#registration?.leaseSeconds ?? leaseSeconds) * 1_000) / 3
      const servers = settings.servers.kind === 'file' ? 1 : settings.servers.urls.length
      const waitAfter = (failed: number): number => reconnectMillis(failed, servers, most, Math.random())
      // A session that was short counts as a failure, and its server's other workers have lost it too.
      const waitMillis = connected ? Math.max(waitAfter(0), waitAfter(failures)) : waitAfter(failures)
      log.warn({ waitMillis }, `not connected${url === null ? '' : ` to ${url}`}: ${this.#sentenceOf(error)}`)
      await wait(waitMillis, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Before it ends and stops its replicas: tells that none is ready any more, where a server is connected. */
  async retire(): Promise<void> {
    try {
      await this.#session?.retire()
    } catch (error) {
      this.#options.log.warn({ err: error }, 'no server was told that the replicas are not ready any more')
    }
  }

  /** One socket's life. Resolves with what ended it, the server that was tried, and whether it had answered. */
  async #connectOnce(): Promise<{ error: Error; url: string | null; connected: boolean }> {
    const { settings, signal, log, supervisor, outbox, drain } = this.#options
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
      // Before anything else is said: a server of another release may not understand it.
      const { workerProtocol, workerLease } = connection.greeting
      const fault = workerProtocol && protocolFault(workerProtocolVersion, workerProtocol)
      if (fault) throw new Error(fault)
      log.info({ url }, 'connected')
      // The servers may have been started anew with another lease since.
      if (this.#registration !== null) this.#registration = { ...this.#registration, ...workerLease }
      this.#registration ??= await this.#register(connection)
      const nextSequence = (): number => ++this.#sequence
      const parts = { supervisor, outbox, contact: this.#contact, drain, log, nextSequence }
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

  /** With what a server can't say: what it refuses has replicas that run on, and a token that is in a file. */
  #sentenceOf(error: Error): string {
    if (!(error instanceof RefusedError) || this.#registration !== null) return error.message
    const sentences = [error.message]
    if (error.code === 'FORBIDDEN') sentences.push(`The token is the one in ${this.#options.settings.tokenFile}.`)
    const running = this.#options.supervisor.reports().filter(({ state }) => state !== 'ENDED').length
    if (running > 0) {
      const these = running === 1 ? 'A replica of before runs' : `${running} replicas of before run`
      sentences.push(
        `${these} on here and may have been replaced elsewhere: a server that takes this worker, also by another XCE_WORKER_NAME, tells it what to stop; SIGUSR2 stops everything now.`,
      )
    }
    return sentences.join(' ')
  }

  async #register(connection: Connection): Promise<Registration> {
    const { settings, softwareVersion, instance, supervisor, outbox, log } = this.#options
    const running = supervisor.reports()
    // What changes from here on is reported under the new registration; ends are told again, in case the registration only takes what runs.
    outbox.reset(running.filter(({ state }) => state === 'ENDED'))
    const sentAt = this.#contact.mark()
    const { registration, stop } = await register(connection, settings, { softwareVersion, instance }, running, log)
    this.#contact.heard(sentAt, registration.leaseSeconds + registration.graceSeconds)
    this.#registeredAt = performance.now()
    this.#sequence = 0
    for (const replica of stop) supervisor.release(replica, { drain: false })
    return registration
  }

  /** Fenced: others may run in place of what runs here, so it must be gone before this worker may take anything new. */
  async #startOver(): Promise<void> {
    const { log, supervisor, signal } = this.#options
    log.warn('fenced: this worker stops all its replicas and registers anew')
    this.#registration = null
    // Whoever ends it meanwhile does not wait: what is stopping then is known as such to the next worker.
    await orAbort(supervisor.releaseAll({ drain: false }), signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
  }

  async #nextServer(servers: Servers): Promise<string> {
    if (servers.kind === 'file') {
      const url = await readText(servers.file, 'XCE_WORKER_SERVER_FILE')
      if (!isServerUrl(url))
        throw new Error(`The file ${servers.file} holds ${JSON.stringify(url)}, which is no URL of a server.`)
      return apiUrl(url)
    }
    this.#turn = (this.#turn + 1) % servers.urls.length
    return servers.urls[this.#turn] ?? ''
  }
}

/** What a file that a setting names holds, read anew at every connect. */
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
