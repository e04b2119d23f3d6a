/**
 * Reads once for many callers. A caller never gets a reading that began before its call; callers who come while one runs share the next.
 */
export class SharedRead<Reading> {
  readonly #read: () => Promise<Reading>
  #running: Promise<Reading> | null = null
  #next: Promise<Reading> | null = null

  constructor(read: () => Promise<Reading>) {
    this.#read = read
  }

  get(): Promise<Reading> {
    if (this.#running === null) return this.#startReading()
    this.#next ??= this.#running.then(
      () => this.#startReading(),
      () => this.#startReading(),
    )
    return this.#next
  }

  #startReading(): Promise<Reading> {
    this.#next = null
    const running = this.#read().finally(() => {
      if (this.#running === running) this.#running = null
    })
    this.#running = running
    return running
  }
}

/** Keeps shared reads by the name of what they read. A read is forgotten when nobody waits for it. */
export class SharedReads<Reading> {
  readonly #reads = new Map<string, { readonly read: SharedRead<Reading>; waiting: number }>()

  async get(key: string, read: () => Promise<Reading>): Promise<Reading> {
    const entry = this.#reads.get(key) ?? { read: new SharedRead(read), waiting: 0 }
    this.#reads.set(key, entry)
    entry.waiting++
    try {
      return await entry.read.get()
    } finally {
      entry.waiting--
      if (entry.waiting === 0) this.#reads.delete(key)
    }
  }
}
