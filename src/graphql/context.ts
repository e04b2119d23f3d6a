import type { App } from '../controller/app.ts'
import { PageLoaders } from './connection/pageLoaders.ts'

/** Who asks, as the token says. */
export interface Viewer {
  readonly subject: string
  readonly roles: readonly string[]
}

/** Made for each request and for each pushed event, so that nothing that was loaded for one answers another. */
export interface GraphQLContext {
  readonly app: App
  /** Null: no valid token; every operation is refused then. */
  readonly viewer: Viewer | null
  readonly pages: PageLoaders
}

export function createContext(app: App, viewer: Viewer | null): GraphQLContext {
  return { app, viewer, pages: new PageLoaders(app.database.prisma) }
}

export function hasRole(viewer: Viewer | null, role: string): boolean {
  return viewer?.roles.includes(role) ?? false
}
