import type { Database } from '../../database/database.ts'
import type { CreateEntry, ServiceEntry } from '../entry.ts'
import { keyOf, lookUpKeys } from '../keys.ts'
import { nameTaken } from '../refusals.ts'
import { readForCreations } from './readForCreations.ts'

// Answers entries that need no decision. Entries that must wait for another one of their own batch go to `later`.

type Later = (entries: readonly ServiceEntry[]) => void

/**
 * Answers what was done before under its key, and puts off the second of two entries with one key. Returns the others.
 */
export async function withoutKnownKeys(
  database: Database,
  entries: readonly ServiceEntry[],
  later: Later,
): Promise<ServiceEntry[]> {
  const seen = new Set<string>()
  const second: ServiceEntry[] = []
  const first: ServiceEntry[] = []
  for (const entry of entries) {
    const key = entry.remember && keyOf(entry.remember)
    if (key !== null && seen.has(key)) second.push(entry)
    else first.push(entry)
    if (key !== null) seen.add(key)
  }
  if (seen.size === 0) return first
  const known = await lookUpKeys(
    database,
    first.flatMap((entry) => entry.remember ?? []),
  )
  later(second)
  return first.filter((entry) => {
    const answer = entry.remember && known.get(keyOf(entry.remember))
    if (!answer) return true
    entry.resolve(answer)
    return false
  })
}

/** A service that may be created, with the limit of its project. */
export interface Creation {
  readonly entry: CreateEntry
  readonly maxReplicas: number | null
}

/**
 * Answers NAME_TAKEN when the database has the name, and puts off the second of two entries with one name. Returns the
 * others.
 */
export async function withFreeNames(
  database: Database,
  entries: readonly CreateEntry[],
  later: Later,
): Promise<Creation[]> {
  if (entries.length === 0) return []
  const { names: taken, limits } = await readForCreations(
    database,
    entries.map(({ service }) => service),
  )
  const second: CreateEntry[] = []
  const free = entries.filter((entry) => {
    const { projectId, name } = entry.service
    const by = taken.get(projectId, name)
    if (by === 'database') entry.resolve(nameTaken(entry.service))
    else if (by === 'batch') second.push(entry)
    else taken.add(projectId, name)
    return by === null
  })
  later(second)
  return free.map((entry) => ({ entry, maxReplicas: limits.get(entry.service.projectId) ?? null }))
}
