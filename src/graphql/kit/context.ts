import type { ServerContext } from '../../systems/serverContext.ts'
import { PageLoaders } from './connection/pageLoaders.ts'
import type { ResultSink } from './resultSink.ts'
import { RowLoaders } from './rowLoaders.ts'

/** Who asks, as the token says. */
export interface Viewer {
  readonly subject: string
  readonly roles: readonly string[]
  /** Of the token; left out where there is none to take away. */
  readonly tokenId?: string
}

/** What subscriptions of viewers with the same scope show is the same: roles decide what one may see, and nothing else does. */
export function viewScope(viewer: Viewer | null): string {
  return viewer === null ? '' : JSON.stringify([...viewer.roles].sort())
}

/** Made for each request and for each pushed event, so that nothing that was loaded for one answers another. */
export interface GraphQLContext {
  readonly app: ServerContext
  /** Null: no valid token; every operation is refused then. */
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
