import { Prisma } from '../../generated/prisma/client.ts'
import { builder } from './builder.ts'
import { noneLeft } from './check.ts'
import type { Filtered } from './connection/connection.ts'
import { among, filterDescription, filtered, refuseBadFilter } from './filter.ts'
import { idOf } from './globalId.ts'
import { idDescription, type Reference, referenceFaults, refuseFaults, wordFor } from './reference.ts'
import { storable } from './storableText.ts'

/** The types whose objects have a name that is theirs alone. */
export type NamedType = 'Host' | 'Worker' | 'ApplicationProfile' | 'Project' | 'Queue'

type Args = Parameters<Parameters<typeof builder.queryFields>[0]>[0]['arg']

/** The arguments of a query for one object. */
export function namedArgs(arg: Args, type: NamedType) {
  return {
    name: arg.string({ description: `The ${wordFor(type)}'s name. Give it or the id.` }),
    id: arg.id({ description: idDescription(type) }),
  }
}

/** Returns the condition on the row that a query names; null where no row can have such an id or name. Throws BAD_USER_INPUT. */
export function whereArgs(type: NamedType, reference: Reference) {
  refuseFaults(wordFor(type), referenceFaults(type, reference))
  return whereNamed(type, reference)
}

/** Returns the condition on the row of an object; null where no row can have such an id or name. */
export function whereNamed(type: NamedType, { id, name }: Reference) {
  if (typeof id === 'string') {
    const bare = idOf(type, id)
    return bare === null ? null : { id: bare }
  }
  return typeof name === 'string' && storable(name) ? { name } : null
}

interface NamesFilter {
  readonly names?: readonly string[] | null | undefined
}

/** Declares a filter that has names only, of objects that leave their row behind when they are deleted. */
export function namesFilter(type: NamedType, things: string) {
  const input = builder.inputRef<NamesFilter>(`${type}Filter`).implement({
    description: filterDescription(things),
    fields: (t) => ({ names: t.stringList({ description: `Those of the ${things} that have one of these names.` }) }),
  })
  const sql = (filter: NamesFilter | null | undefined): Filtered => {
    refuseBadFilter('filter', filter)
    const { names, ...rest } = filter ?? {}
    noneLeft(rest)
    return filtered(filter, [Prisma.sql`t."removedAt" IS NULL`, ...among(Prisma.sql`t.name`, names)])
  }
  return { input, sql }
}
