import type { Revision } from '../model/id.ts'
import type { Entry } from './changeLog.ts'
import { Topic } from './topic.ts'

/** Tells its followers that there may be events. These are read by their revisions, so that no change has to be remembered. */
export class EventsTopic extends Topic<null> {
  readonly #floor: Revision

  constructor(head: Revision) {
    super(head)
    this.#floor = head
  }

  override since(cursor: Revision): readonly Entry<null>[] | null {
    if (cursor < this.#floor) return null
    return cursor < this.revision ? [{ revision: this.revision, change: null }] : []
  }
}
