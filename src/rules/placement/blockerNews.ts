import type { Blocker } from '../../model/blocker.ts'
import type { ReplicaId } from '../../model/id.ts'

/** The last blocker of each waiting replica, so that a replica gets a blocker only when it is a new one. */
export class BlockerNews {
  #last = new Map<ReplicaId, Blocker>()

  /** Picks the replicas whose blocker differs from the last time, out of all that wait now. */
  of<Hold extends { readonly replica: ReplicaId; readonly blocker: Blocker }>(holds: readonly Hold[]): readonly Hold[] {
    const news = holds.filter(({ replica, blocker }) => {
      const last = this.#last.get(replica)
      return last?.reason !== blocker.reason || last.message !== blocker.message
    })
    this.#last = new Map(holds.map(({ replica, blocker }) => [replica, blocker]))
    return news
  }

  /** Forgets the last blockers, because somebody else may have set others. */
  forget(): void {
    this.#last.clear()
  }
}
