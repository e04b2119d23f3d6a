import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Database } from '../database/database.ts'

export interface TokenHolder {
  readonly subject: string
  readonly roles: string[]
}

/** Makes a bearer token and returns it; only its hash is kept, so it can't be shown again. */
export async function createToken({ prisma }: Database, { subject, roles }: TokenHolder): Promise<string> {
  const token = `xce_${randomBytes(32).toString('base64url')}`
  await prisma.token.create({ data: { id: randomUUID(), hash: hashOf(token), subject, roles } })
  return token
}

/** Returns the subject and roles of a token; null when the token is unknown. */
export async function findToken(
  { prisma }: Database,
  token: string,
): Promise<(TokenHolder & { readonly tokenId: string }) | null> {
  const found = await prisma.token.findUnique({ where: { hash: hashOf(token) } })
  return found && { tokenId: found.id, subject: found.subject, roles: found.roles }
}

/** Returns the roles of these tokens by their ids. Tokens that no longer exist are left out. */
export async function readTokens(
  { prisma }: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await prisma.token.findMany({ where: { id: { in: [...ids] } }, select: { id: true, roles: true } })
  return new Map(rows.map(({ id, roles }) => [id, roles]))
}

/** Tokens are random and long, so that a plain hash is as good as a slow one. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
