import type { Instant } from '../model/id.ts'

interface Entry<Event> {
  readonly at: Instant
  /** In which order they were put in: equal instants keep it. */
  readonly order: number
  readonly event: Event
}

/** What happens later, the earliest first; of one instant, what was put in first. A binary heap. */
export class EventQueue<Event> {
  readonly #heap: Entry<Event>[] = []
  #order = 0

  get size(): number {
    return this.#heap.length
  }

  /** Of the next event; null: there is none. */
  get nextAt(): Instant | null {
    return this.#heap[0]?.at ?? null
  }

  /** The next event if it is due at `now`; undefined: nothing is. */
  peekDue(now: Instant): Event | undefined {
    const first = this.#heap[0]
    return first === undefined || first.at > now ? undefined : first.event
  }

  put(at: Instant, event: Event): void {
    const heap = this.#heap
    const entry = { at, order: this.#order++, event }
    let position = heap.length
    heap.push(entry)
    while (position > 0) {
      const parent = (position - 1) >> 1
      const above = heap[parent]
      if (above === undefined || !isBefore(entry, above)) break
      heap[position] = above
      position = parent
    }
    heap[position] = entry
  }

  /** Takes the next event out if it is due at `now`; undefined: nothing is. */
  takeDue(now: Instant): Event | undefined {
    const first = this.#heap[0]
    if (first === undefined || first.at > now) return undefined
    const last = this.#heap.pop()
    if (last !== undefined && last !== first) this.#sink(last)
    return first.event
  }

  #sink(entry: Entry<Event>): void {
    const heap = this.#heap
    let position = 0
    for (;;) {
      let child = 2 * position + 1
      let below = heap[child]
      if (below === undefined) break
      const right = heap[child + 1]
      if (right !== undefined && isBefore(right, below)) {
        below = right
        child++
      }
      if (!isBefore(below, entry)) break
      heap[position] = below
      position = child
    }
    heap[position] = entry
  }
}

function isBefore<Event>(a: Entry<Event>, b: Entry<Event>): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
