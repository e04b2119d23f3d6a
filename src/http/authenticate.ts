import type { GraphQLError } from 'graphql'
import type { Viewer } from '../graphql/kit/context.ts'
import { unauthenticated } from '../graphql/kit/requestErrors.ts'
import { findToken } from '../store/access/tokens.ts'
import type { ServerContext } from '../systems/serverContext.ts'

/** The viewer that `Bearer <token>` stands for; null when there is no such token. */
export async function authenticate(app: ServerContext, authorization: unknown): Promise<Viewer | null> {
  const token = tokenOf(authorization)
  return token === null ? null : findToken(app.database, token)
}

/** The token of `Bearer <token>`; null for anything else. */
export function tokenOf(authorization: unknown): string | null {
  if (typeof authorization !== 'string') return null
  return /^bearer\s+(\S+)\s*$/i.exec(authorization)?.[1] ?? null
}

/** The error of a request whose header Authorization stands for no viewer: it has no token, or one that is not known. */
export function tokenRefusal(authorization: unknown): GraphQLError {
  if (tokenOf(authorization) === null) return unauthenticated()
  return unauthenticated(
    'The server does not know this token: it is mistyped, revoked, or of another server. One for admins is in admin-token in XCE_DATA_DIR.',
  )
}
