import { Kind } from 'graphql'
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
