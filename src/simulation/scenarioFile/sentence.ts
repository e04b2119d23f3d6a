import type { z } from 'zod'

/** Says in a sentence what is wrong with a value, with the value and the bound. It is for `safeParse(…, { error })`. */
export const sentenceOf: z.core.$ZodErrorMap = (issue) => {
  const value = shown(issue.input)
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? `It is missing: give ${nameOf(issue.expected)}.`
        : `${value} is not ${nameOf(issue.expected)}.`
    case 'too_small':
      return `${value} is too ${sizeOf(issue.origin, 'small', 'short')}: the least is ${issue.minimum}.`
    case 'too_big':
      return `${value} is too ${sizeOf(issue.origin, 'great', 'long')}: the most is ${issue.maximum}.`
    case 'invalid_value':
      return issue.input === undefined
        ? `It is missing: give one of ${issue.values.join(', ')}.`
        : `${value} is not known here: give one of ${issue.values.join(', ')}.`
    case 'unrecognized_keys':
      return `${issue.keys.map((key) => JSON.stringify(key)).join(', ')} ${issue.keys.length === 1 ? 'is' : 'are'} not known here.`
    case 'invalid_key':
      return 'A name here is not allowed.'
    default:
      return undefined
  }
}

function bare(expected: string): string {
  const names: Readonly<Record<string, string>> = {
    int: 'whole number',
    object: 'mapping',
    record: 'mapping',
    array: 'list',
    string: 'text',
  }
  return names[expected] ?? expected
}

function nameOf(expected: string): string {
  return `a ${bare(expected)}`
}

function sizeOf(origin: string, number: string, text: string): string {
  return origin === 'string' || origin === 'array' ? text : number
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

/** Writes a path as `services[0].rollout.maxSurge`. */
export function pathText(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  return text.startsWith('.') ? text.slice(1) : text
}
