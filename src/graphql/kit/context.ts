import type { ServerContext } from '../../systems/serverContext.ts'
import { PageLoaders } from './connection/pageLoaders.ts'
import type { ResultSink } from './resultSink.ts'
import { RowLoaders } from './rowLoaders.ts'

/** The caller, as its token says. */
export interface Viewer {
  readonly subject: string
  readonly roles: readonly string[]
  /** The id of the token; left out when the token cannot be taken away. */
  readonly tokenId?: string
}

/** Subscriptions of viewers with the same scope show the same, because only roles decide what a viewer may see. */
export function viewScope(viewer: Viewer | null): string {
  return viewer === null ? '' : JSON.stringify([...viewer.roles].sort())
}

/**
 * One context is made for each request and each pushed event, so that nothing that was loaded for one answers another.
 */
export interface GraphQLContext {
  readonly app: ServerContext
  /** Null when there is no valid token; every operation is then refused. */
  readonly viewer: Viewer | null
  readonly pages: PageLoaders
  readonly rows: RowLoaders
  /** A transport that sets this gets a subscription's frames directly, not as the executor's results. */
  readonly sink?: ResultSink
}

export function createContext(app: ServerContext, viewer: Viewer | null): GraphQLContext {
  const { prisma } = app.database
  return { app, viewer, pages: new PageLoaders(prisma), rows: new RowLoaders(prisma) }
}

export function hasRole(viewer: Viewer | null, role: string): boolean {
  return viewer?.roles.includes(role) ?? false
}
