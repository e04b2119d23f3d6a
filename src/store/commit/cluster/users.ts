import type { Prisma } from '../../../generated/prisma/client.ts'
import type { Database } from '../../database/database.ts'

/** So many services a refusal names: more would not be read. */
const mostNamed = 5

export interface Users {
  readonly count: number
  /** The first of them by name, with their projects. */
  readonly names: readonly string[]
}

/** Finds the services that use something. */
export async function readUsers({ prisma }: Database, uses: Prisma.ServiceWhereInput): Promise<Users> {
  const where = { heldName: { not: null }, ...uses }
  const [count, services] = await Promise.all([
    prisma.service.count({ where }),
    prisma.service.findMany({
      where,
      orderBy: [{ name: 'asc' }, { id: 'asc' }],
      take: mostNamed,
      select: { name: true, project: { select: { name: true } } },
    }),
  ])
  return { count, names: services.map(({ name, project }) => `${name} of project ${project.name}`) }
}

/** Names the first of them, and says how many more there are. */
export function namesOf({ count, names }: Users): string {
  return `${names.join(', ')}${count > names.length ? ` and ${count - names.length} more` : ''}`
}
