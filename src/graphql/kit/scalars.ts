import { Kind } from 'graphql'
import type { Limit } from '../../model/settings.ts'
import { builder } from './builder.ts'
import { badUserInput } from './requestErrors.ts'

const largest = 2n ** 63n - 1n

function revisionOf(text: string): bigint {
  const value = /^\d{1,19}$/.test(text) ? BigInt(text) : -1n
  if (value < 0n || value > largest) {
    throw badUserInput(
      `${JSON.stringify(text)} is no revision: give a decimal integer from 0 to ${largest} as a string.`,
    )
  }
  return value
}

builder.scalarType('Revision', {
  description:
    'A position in the fact log, counted up by one with each committed change: a decimal integer as a string. Compare as integers.',
  serialize: String,
  parseValue: (value) => revisionOf(String(value)),
  parseLiteral: (node) => revisionOf(node.kind === Kind.STRING || node.kind === Kind.INT ? node.value : node.kind),
})

builder.scalarType('DateTime', {
  description:
    "An instant of the database's clock: RFC 3339 in UTC with milliseconds, for example 2026-01-31T12:00:00.000Z.",
  serialize: (value) => new Date(value).toISOString(),
  parseValue: (value) => {
    const instant = typeof value === 'string' ? new Date(value) : null
    if (instant === null || Number.isNaN(instant.getTime())) {
      throw badUserInput(`${JSON.stringify(value)} is no instant: give RFC 3339, for example 2026-01-31T12:00:00Z.`)
    }
    return instant
  },
})

/** The bounds are those of the field, so its `check` judges them. */
function limitOf(value: unknown): Limit {
  if (Number.isSafeInteger(value)) return { count: value as number }
  const percent = typeof value === 'string' ? /^(-?\d{1,9})%$/.exec(value)?.[1] : undefined
  if (percent !== undefined) return { percent: Number(percent) }
  throw badUserInput(
    `${JSON.stringify(value)} is neither a number nor a percentage: give an integer, for example 3, or a text like "25%".`,
  )
}

builder.scalarType('IntOrPercent', {
  description:
    'A number of replicas, either as an integer or as a percentage of the desired replicas: 3 or "25%". It is read as it is written.',
  serialize: (value) => {
    const limit = value as Limit
    return 'count' in limit ? limit.count : `${limit.percent}%`
  },
  parseValue: limitOf,
  parseLiteral: (node) =>
    limitOf(node.kind === Kind.INT ? Number(node.value) : node.kind === Kind.STRING ? node.value : node.kind),
})
