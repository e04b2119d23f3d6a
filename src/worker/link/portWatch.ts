import type { PortOfHost, WatchedPort } from '../../model/watchedPort.ts'
import { readSockets } from '../machine/sockets.ts'
import { isPortTaken } from '../process/portCheck.ts'

/** How often the watched ports are looked at. Nothing is looked at while there are none. */
const everyMillis = 1_000

/**
 * Watches fixed ports that other programs use, so that the replica that waits for one gets it as soon as it is free
 * (R13). The servers say which; the watch goes on over reconnects.
 */
export class PortWatch {
  readonly #watched = new Map<string, PortOfHost & { readonly until: number }>()
  readonly #free = new Map<string, PortOfHost>()
  #timer: NodeJS.Timeout | null = null
  #isLooking = false
  #isClosed = false
  #wake: (() => void) | null = null

  /** Watches these ports and no others. */
  replace(ports: readonly WatchedPort[]): void {
    this.#watched.clear()
    for (const { port, protocol, seconds } of ports)
      this.#watch({ port, protocol }, performance.now() + seconds * 1_000)
    if (this.isWatching) void this.#look()
  }

  /** Resolves with the ports that have become free, as soon as there are some. They are not watched any more. */
  async freed(): Promise<readonly PortOfHost[]> {
    while (this.#free.size === 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    const ports = [...this.#free.values()]
    this.#free.clear()
    return ports
  }

  /** No server took note of these: they are told again. */
  putBack(ports: readonly PortOfHost[]): void {
    for (const port of ports) this.#free.set(keyOf(port), port)
    this.#wakeReporter()
  }

  get isWatching(): boolean {
    return this.#watched.size > 0
  }

  close(): void {
    this.#isClosed = true
    this.#watched.clear()
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  #watch(port: PortOfHost, until: number): void {
    this.#watched.set(keyOf(port), { ...port, until })
  }

  async #look(): Promise<void> {
    if (this.#isLooking || this.#isClosed) return
    this.#isLooking = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    try {
      await this.#lookOnce()
    } finally {
      this.#isLooking = false
    }
    if (this.#watched.size === 0 || this.#isClosed) return
    this.#timer = setTimeout(() => void this.#look(), everyMillis)
    this.#timer.unref()
  }

  async #lookOnce(): Promise<void> {
    const bound = new Set<string>()
    for (const protocol of ['TCP', 'UDP'] as const) {
      if (![...this.#watched.values()].some((watched) => watched.protocol === protocol)) continue
      for (const { port } of await readSockets(protocol)) bound.add(keyOf({ port, protocol }))
    }
    for (const [key, { port, protocol, until }] of [...this.#watched]) {
      if (performance.now() > until) this.#watched.delete(key)
      // A port is tried only when nobody seems to have it: the try itself would keep a program that starts from binding it.
      else if (!bound.has(key) && !(await isPortTaken({ port, protocol })) && this.#watched.delete(key))
        this.#free.set(key, { port, protocol })
    }
    if (this.#free.size > 0) this.#wakeReporter()
  }

  #wakeReporter(): void {
    this.#wake?.()
    this.#wake = null
  }
}

function keyOf({ port, protocol }: PortOfHost): string {
  return `${port} ${protocol}`
}
