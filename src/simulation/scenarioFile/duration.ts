import { z } from 'zod'
import type { Range } from '../random.ts'

// A duration of a scenario file is a number of seconds, or a text such as 500ms, 90s, 1m30s or 2h. A range is two of
// them: 5s..20s.

const parts = /^(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?$/

/** Reads a duration in seconds; null when the value is none. */
export function secondsOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : null
  if (typeof value !== 'string' || value === '') return null
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value)
  const match = parts.exec(value.trim())
  if (match === null || value.trim() === '') return null
  const [hours, minutes, seconds, millis] = match.slice(1).map((part) => Number(part ?? 0))
  return (hours ?? 0) * 3_600 + (minutes ?? 0) * 60 + (seconds ?? 0) + (millis ?? 0) / 1_000
}

/** A duration is at most a week, because a longer one is a mistake in the file. */
const mostSeconds = 604_800

const faultOf = (value: unknown) =>
  value === undefined
    ? 'It is missing: give a duration, in seconds or as a text such as 90s.'
    : `${JSON.stringify(value)} is not a duration from 0 to ${mostSeconds} s: give seconds, or a text such as 500ms, 90s, 1m30s or 2h.`

export const duration = z.unknown().transform((value, context): number => {
  const seconds = secondsOf(value)
  if (seconds !== null && seconds <= mostSeconds) return seconds
  context.addIssue({ code: 'custom', message: faultOf(value) })
  return z.NEVER
})

export const durationRange = z.unknown().transform(rangeOf)

/** Reads a range; null stands for never. */
export const rangeOrNever = z
  .unknown()
  .transform((value, context) => (value === 'never' ? null : rangeOf(value, context)))

function rangeOf(value: unknown, context: z.core.$RefinementCtx): Range {
  const [from, to = from] = typeof value === 'string' && value.includes('..') ? value.split('..') : [value]
  const [least, most] = [secondsOf(from), secondsOf(to)]
  if (least === null || most === null || most > mostSeconds) {
    context.addIssue({ code: 'custom', message: `${faultOf(value).slice(0, -1)}, or two of them as 5s..20s.` })
    return z.NEVER
  }
  if (least > most) {
    context.addIssue({
      code: 'custom',
      message: `${JSON.stringify(value)} ends before it begins: give the shorter duration first.`,
    })
    return z.NEVER
  }
  return { from: least, to: most }
}
