import type { Tail } from '../../feed/tail.ts'
import type { Room } from '../../model/host.ts'
import type { Revision } from '../../model/id.ts'
import type { Committer } from '../../store/commit/committer.ts'
import type { PlacementView } from './placementView.ts'

/** A user's change waits at most this many milliseconds for it, and is then made without. */
const patienceMillis = 1_000

/**
 * Looks at the room that hosts and projects have before a user's change, so that the change's own commit can say why a
 * new replica has to wait. It reads only what has changed since the last look, here or by placement.
 */
export class Outlook {
  readonly #view: PlacementView
  readonly #tail: Pick<Tail, 'head' | 'subscribe'>
  readonly #leave: (() => void)[]
  /** The newest revision that this server has committed. */
  #committed: Revision = 0n
  #waiters: (() => void)[] = []

  constructor({
    view,
    tail,
    committer,
  }: {
    readonly view: PlacementView
    readonly tail: Pick<Tail, 'head' | 'subscribe'>
    readonly committer: Pick<Committer, 'onCommitted'>
  }) {
    this.#view = view
    this.#tail = tail
    this.#leave = [
      committer.onCommitted((head) => {
        if (head > this.#committed) this.#committed = head
      }),
      tail.subscribe(
        (facts) => {
          view.note(facts)
          this.#wake()
        },
        () => {
          view.forget()
          this.#wake()
        },
      ),
    ]
  }

  stop(): void {
    for (const leave of this.#leave.splice(0)) leave()
    this.#wake()
  }

  /** The room as it was after this server's last commit; null where it could not be read in time. */
  async room(): Promise<Room | null> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, patienceMillis, null)
    })
    // An error of the database is the commit's to tell.
    const look = this.#look().catch(() => null)
    try {
      return await Promise.race([look, late])
    } finally {
      clearTimeout(timer)
    }
  }

  async #look(): Promise<Room> {
    const committed = this.#committed
    while (this.#tail.head < committed && this.#leave.length > 0)
      await new Promise<void>((resolve) => this.#waiters.push(resolve))
    return this.#view.readRoom()
  }

  /** Lets those who wait for facts look again, once the tail has moved its head over them. */
  #wake(): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolve of waiters) resolve()
  }
}
