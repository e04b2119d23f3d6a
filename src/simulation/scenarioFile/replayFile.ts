import { stringify } from 'yaml'
import { z } from 'zod'
import type { NewService, ServiceIntent } from '../../model/intent.ts'
import type { Replay } from '../scenario.ts'
import { pathText, sentenceOf } from './sentence.ts'

// A scenario file can hold the history of one service: everything that a failing property test gave to the rules, so
// that `npm run simulate` can give it to them again.

const replayFile = z.object({
  service: z.looseObject({ id: z.string(), name: z.string(), replicas: z.int().min(0) }),
  startedAt: z.number(),
  commits: z.array(
    z.object({
      atMillis: z.number(),
      ids: z.int().min(0),
      intents: z.array(z.looseObject({ kind: z.string() })),
    }),
  ),
})

/** JSON and YAML have no form for big integers, so they are written with this prefix. */
const bigPrefix = 'revision:'

export function replayText(replay: Replay, about: string): string {
  const plain = JSON.parse(
    JSON.stringify({ about, replay }, (_, value) => (typeof value === 'bigint' ? `${bigPrefix}${value}` : value)),
  )
  return stringify(plain, { lineWidth: 0, aliasDuplicateObjects: false })
}

/** Reads a file that `replayText` has written, and therefore does not check the intents. Throws a sentence. */
export function replayOf(value: unknown): Replay {
  const parsed = replayFile.safeParse(revive(value), { error: sentenceOf })
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new Error(`replay.${pathText(issue?.path ?? [])}: ${issue?.message ?? ''}`)
  }
  const { service, startedAt, commits } = parsed.data
  return {
    service: service as unknown as NewService,
    startedAt,
    commits: commits.map(({ intents, ...commit }) => ({ ...commit, intents: intents as unknown as ServiceIntent[] })),
  }
}

function revive(value: unknown): unknown {
  if (typeof value === 'string' && value.startsWith(bigPrefix)) return BigInt(value.slice(bigPrefix.length))
  if (Array.isArray(value)) return value.map(revive)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, revive(part)]))
}
