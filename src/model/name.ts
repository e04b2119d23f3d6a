import { quoted } from './quoted.ts'

const label = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

/** Why `name` is not a DNS-1123 label of at most `most` ASCII characters, as a sentence; null when it is one (R17). */
export function nameFault(name: string, most: number): string | null {
  if (name === '') return `The name is empty: give 1 to ${most} characters.`
  if ([...name].length > most) return `${quoted(name)} has ${[...name].length} characters: at most ${most} are allowed.`
  if (!label.test(name))
    return `${quoted(name)} is no DNS label: use a-z, 0-9 and "-", and begin and end with a letter or digit.`
  return null
}

const hostName = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/
const hostNameLength = 253
export const hostNameRule = `use letters, digits, ".", "_" and "-", begin and end with a letter or digit, at most ${hostNameLength} characters`

/** Why `name` is no name of a host or worker, as a sentence; null when it is one. Machines have names of their own: these are no labels. */
export function hostNameFault(name: string): string | null {
  if (name !== '' && name.length <= hostNameLength && hostName.test(name)) return null
  return `${quoted(name)} is no name of a host or worker: ${hostNameRule}.`
}
