import { bounds } from '../../model/bounds.ts'
import { nameFault } from '../../model/name.ts'
import { quoted } from '../../model/quoted.ts'
import type { Check, Fault } from './check.ts'
import { storable } from './storableText.ts'

// The single values that inputs consist of. Each check says what is wrong in a sentence with the value and the bound.

interface Range {
  readonly min: number
  readonly max: number
}

/**
 * An integer within bounds: its description, which gets the bounds as "0 to 10", and its check. `what` names the values
 * in the sentence that refuses one.
 */
export function whole({ min, max }: Range, what: string, describe: (range: string) => string) {
  const range = `${min} to ${max}`
  const check: Check<number> = (value) =>
    value < min || value > max ? [{ message: `${value} is out of range: ${what} are ${range}.`, bound: range }] : []
  return { description: describe(range), check }
}

/** The names of profiles, services, projects and queues (R17). */
export const checkName: Check<string> = (name) =>
  faultOf(nameFault(name, bounds.nameLength), `a DNS-1123 label of at most ${bounds.nameLength} characters`)

/** The name of the object that an input makes. */
export const nameField = {
  required: true,
  description: `A DNS-1123 label of at most ${bounds.nameLength} characters.`,
  check: checkName,
} as const

/** `bound`: what is allowed, in words. */
export function faultOf(sentence: string | null, bound?: string): Fault[] {
  return sentence === null ? [] : [{ message: sentence, ...(bound === undefined ? {} : { bound }) }]
}

/** Refuses text that the database can't hold. */
export function textFaults(what: string, text: string): Fault[] {
  if (text.includes('\0'))
    return [{ message: `${what} ${quoted(text)} contains the character NUL: it may contain any other.` }]
  return storable(text)
    ? []
    : [{ message: `${what} ${quoted(text)} contains half of a character (a lone surrogate): send whole ones.` }]
}

/** An absolute path on a host, or of a request. */
export function pathFaults(what: string, text: string): Fault[] {
  if (!text.startsWith('/')) return [{ message: `${what} ${quoted(text)} does not begin with "/".` }]
  return pathLengthFaults(what, text)
}

export function pathLengthFaults(what: string, text: string): Fault[] {
  if (text.length > bounds.pathLength)
    return [
      {
        message: `${what} has ${text.length} characters: at most ${bounds.pathLength} are allowed.`,
        bound: `at most ${bounds.pathLength} characters`,
      },
    ]
  return textFaults(what, text)
}

export const checkCommand: Check<readonly string[]> = (words) => {
  const { commandWords, commandBytes } = bounds
  if (words.length < commandWords.min) return [{ message: 'The command is empty: give the program and its arguments.' }]
  if (words.length > commandWords.max)
    return [
      {
        message: `The command has ${words.length} words: at most ${commandWords.max} are allowed.`,
        bound: `at most ${commandWords.max}`,
      },
    ]
  const bytes = words.reduce((sum, word) => sum + Buffer.byteLength(word), 0)
  if (bytes > commandBytes)
    return [
      {
        message: `The command has ${bytes} bytes: at most ${commandBytes} are allowed.`,
        bound: `at most ${commandBytes} bytes`,
      },
    ]
  const program =
    words[0] === ''
      ? [{ path: [0], message: "The program's name is empty: the first word of the command names the program." }]
      : []
  return [
    ...program,
    ...words.flatMap((word, at) => textFaults('The word', word).map(({ message }) => ({ path: [at], message }))),
  ]
}
