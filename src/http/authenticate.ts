import type { Viewer } from '../graphql/kit/context.ts'
import { findToken } from '../store/access/tokens.ts'
import type { ServerContext } from '../systems/serverContext.ts'

/** The viewer that `Bearer <token>` stands for; null when there is no such token. */
export async function authenticate(app: ServerContext, authorization: unknown): Promise<Viewer | null> {
  if (typeof authorization !== 'string') return null
  const token = /^bearer\s+(\S+)\s*$/i.exec(authorization)?.[1]
  return token === undefined ? null : findToken(app.database, token)
}
