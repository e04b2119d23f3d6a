import { quoted } from '../../model/quoted.ts'
import type { Fault } from './check.ts'
import { decodeGlobalId, idOf } from './globalId.ts'
import { badUserInput } from './requestErrors.ts'

/** Names an object by its id or by its name: one of the two is given. */
export interface Reference {
  readonly id?: string | null | undefined
  readonly name?: string | null | undefined
}

/** The description of the id in every reference to an object of the type. */
export const idDescription = (type: string) => `The id of the ${wordFor(type)}. Give it or the name.`

/** What the objects of a type are called in sentences. */
export const wordFor = (type: string): string => (type === 'ApplicationProfile' ? 'profile' : type.toLowerCase())

/** Says what is wrong with a reference to an object of the type: it has both id and name or none, or an id of another type. */
export function referenceFaults(type: string, { id, name }: Reference, otherwise = 'its name'): Fault[] {
  const what = wordFor(type)
  if (typeof id === 'string' && typeof name === 'string')
    return [{ message: `Both the id ${quoted(id)} and the name ${quoted(name)} are given: give one of them.` }]
  if (typeof name === 'string') return []
  if (typeof id !== 'string')
    return [{ message: `Neither id nor name is given: give one of them to name the ${what}.` }]
  if (idOf(type, id) !== null) return []
  const other = decodeGlobalId(id)?.typename
  const fault = other === undefined ? 'is no id of this API' : `is the id of ${article(other)}`
  return [{ path: ['id'], message: `${quoted(id)} ${fault}: give the id of a ${what}, or ${otherwise}.` }]
}

/** Throws BAD_USER_INPUT for the first fault of a reference outside of a mutation's input. */
export function refuseFaults(argument: string, [fault]: readonly Fault[]): void {
  if (fault === undefined) return
  throw badUserInput(`${[argument, ...(fault.path ?? [])].join('.')}: ${fault.message}`)
}

function article(type: string): string {
  return `${/^[AEIOU]/.test(type) ? 'an' : 'a'} ${type}`
}
