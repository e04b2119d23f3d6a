import { Prisma } from '../../generated/prisma/client.ts'

const notFound = 'P2025'

/**
 * The row of a findUniqueOrThrow; null where there is none. Prisma sends reads by id that come in one moment as one statement, but only when
 * all are of one kind: with findUnique among them it sends each by itself.
 */
export async function findOrNull<Row>(row: Promise<Row>): Promise<Row | null> {
  try {
    return await row
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === notFound) return null
    throw error
  }
}
