import type { Blocker } from '../../model/blocker.ts'
import type { ReplicaId } from '../../model/id.ts'

/** What each waiting replica was last told, so that it is told only what is new. */
export class BlockerNews {
  #last = new Map<ReplicaId, Blocker>()

  /** Of all that wait now, those that are told something else than the last time. */
  of<Hold extends { readonly replica: ReplicaId; readonly blocker: Blocker }>(holds: readonly Hold[]): readonly Hold[] {
    const news = holds.filter(({ replica, blocker }) => {
      const last = this.#last.get(replica)
      return last?.reason !== blocker.reason || last.message !== blocker.message
    })
    this.#last = new Map(holds.map(({ replica, blocker }) => [replica, blocker]))
    return news
  }

  /** Somebody else may have told them something. */
  forget(): void {
    this.#last.clear()
  }
}
