import { Prisma } from '../../generated/prisma/client.ts'

const notFound = 'P2025'

/**
 * Returns the row of a findUniqueOrThrow; null when there is none. Prisma joins simultaneous reads by id into one
 * statement only when all are of one kind. With a findUnique among them it sends each alone.
 */
export async function findOrNull<Row>(row: Promise<Row>): Promise<Row | null> {
  try {
    return await row
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === notFound) return null
    throw error
  }
}
