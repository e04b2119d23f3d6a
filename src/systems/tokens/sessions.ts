import { SharedRead } from '../../feed/sharedRead.ts'
import { readTokens } from '../../store/access/tokens.ts'
import type { Database } from '../../store/database/database.ts'

/** The roles of a token. */
export interface TokenView {
  /** Absent when the caller has no token of the database, which therefore can't be revoked. */
  readonly tokenId?: string
  readonly roles: readonly string[]
}

interface Followed {
  /** The roles when the first follower came. */
  readonly roles: string
  readonly ends: Set<() => void>
}

/**
 * Tokens on which something long-lived depends. A token that is removed, or gets other roles, ends everything that
 * depends on it: the tail calls `revalidate` before it delivers a fact that was committed after the change (R16).
 */
export class Sessions {
  readonly #followed = new Map<string, Followed>()
  readonly #reading: SharedRead<void>

  constructor(database: Database) {
    this.#reading = new SharedRead(() => this.#read(database))
  }

  /** The number of tokens that are followed. */
  get open(): number {
    return this.#followed.size
  }

  /** Calls `end` once, when the token is no longer what it was. The returned function stops following. */
  follow({ tokenId, roles }: TokenView, end: () => void): () => void {
    if (tokenId === undefined) return () => undefined
    const known = this.#followed.get(tokenId)
    const followed = known ?? { roles: rolesKey(roles), ends: new Set() }
    this.#followed.set(tokenId, followed)
    followed.ends.add(end)
    // The token may have changed between its look-up and now.
    if (known === undefined || known.roles !== rolesKey(roles)) void this.revalidate().catch(() => undefined)
    return () => {
      followed.ends.delete(end)
      if (followed.ends.size === 0 && this.#followed.get(tokenId) === followed) this.#followed.delete(tokenId)
    }
  }

  /** Reads all followed tokens and ends what depends on changed ones. */
  revalidate(): Promise<void> {
    return this.#followed.size === 0 ? Promise.resolve() : this.#reading.get()
  }

  async #read(database: Database): Promise<void> {
    const asked = [...this.#followed]
    const roles = await readTokens(
      database,
      asked.map(([id]) => id),
    )
    for (const [id, followed] of asked) {
      const now = roles.get(id)
      if (now !== undefined && rolesKey(now) === followed.roles) continue
      if (this.#followed.get(id) === followed) this.#followed.delete(id)
      for (const end of [...followed.ends]) end()
    }
  }
}

function rolesKey(roles: readonly string[]): string {
  return JSON.stringify([...roles].sort())
}
