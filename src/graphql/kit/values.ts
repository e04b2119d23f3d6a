import { z } from 'zod'
import { bounds } from '../../model/bounds.ts'
import { nameFault } from '../../model/name.ts'
import { quoted } from '../../model/quoted.ts'
import { storable } from './storableText.ts'

// The single values that inputs are made of. Each says what is wrong in a sentence with the value and the bound. GraphQL has checked the
// types before.

/** A check as a list of sentences, so that one value can have several faults. */
export function faultless<Schema extends z.ZodType>(
  schema: Schema,
  faults: (value: z.output<Schema>) => readonly Fault[],
) {
  return schema.superRefine((value, context) => {
    for (const { path = [], message } of faults(value)) context.addIssue({ code: 'custom', path: [...path], message })
  })
}

export interface Fault {
  /** Below the value that is checked; left out: the value itself. */
  readonly path?: readonly (string | number)[]
  readonly message: string
}

/** The names of profiles, services, projects and queues (R17). */
export const name = faultless(z.string(), (value) => {
  const fault = nameFault(value, bounds.nameLength)
  return fault === null ? [] : [{ message: fault }]
})

export function whole(what: string, { min, max }: { readonly min: number; readonly max: number }) {
  return faultless(z.number(), (value) =>
    value < min || value > max ? [{ message: `${value} is out of range: ${what} are ${min} to ${max}.` }] : [],
  )
}

/** What the database can't hold. */
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

function pathLengthFaults(what: string, text: string): Fault[] {
  if (text.length > bounds.pathLength)
    return [{ message: `${what} has ${text.length} characters: at most ${bounds.pathLength} are allowed.` }]
  return textFaults(what, text)
}

/** Where a program starts: a path on its host, or one in the replica's own directory. */
export function directoryFaults(text: string): Fault[] {
  if (text.startsWith('/')) return pathFaults('The directory', text)
  if (text === '') return [{ message: "The directory is empty: leave it out for the replica's own directory." }]
  if (text.split('/').includes('..'))
    return [
      {
        message: `The directory ${quoted(text)} has ".." in it: a relative one begins in the replica's own directory and can't leave it.`,
      },
    ]
  return pathLengthFaults('The directory', text)
}

export const command = faultless(z.array(z.string()), (words) => {
  const { commandWords, commandBytes } = bounds
  if (words.length < commandWords.min) return [{ message: 'The command is empty: give the program and its arguments.' }]
  if (words.length > commandWords.max)
    return [{ message: `The command has ${words.length} words: at most ${commandWords.max} are allowed.` }]
  const bytes = words.reduce((sum, word) => sum + Buffer.byteLength(word), 0)
  if (bytes > commandBytes) return [{ message: `The command has ${bytes} bytes: at most ${commandBytes} are allowed.` }]
  const program =
    words[0] === ''
      ? [{ path: [0], message: "The program's name is empty: the first word of the command names the program." }]
      : []
  return [
    ...program,
    ...words.flatMap((word, at) => textFaults('The word', word).map(({ message }) => ({ path: [at], message }))),
  ]
})

export const idempotencyKey = faultless(z.string(), (key) => {
  const { length } = key
  if (length < 1 || length > bounds.idempotencyKeyLength) {
    return [{ message: `The key has ${length} characters: give 1 to ${bounds.idempotencyKeyLength}.` }]
  }
  return textFaults('The key', key)
})
