import { quoted } from './quoted.ts'

const label = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

/**
 * Says in a sentence why `name` is not a DNS-1123 label of at most `most` ASCII characters (R17); null when it is one.
 */
export function nameFault(name: string, most: number): string | null {
  if (name === '') return `The name is empty: give 1 to ${most} characters.`
  if ([...name].length > most) return `${quoted(name)} has ${[...name].length} characters: at most ${most} are allowed.`
  if (!label.test(name))
    return `${quoted(name)} is not a DNS label: use a-z, 0-9 and "-", and begin and end with a letter or digit.`
  return null
}

const hostName = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/
const hostNameLength = 253
export const hostNameRule = `use letters, digits, ".", "_" and "-", begin and end with a letter or digit, at most ${hostNameLength} characters`

/**
 * Says in a sentence why `name` is not a name of a host or worker; null when it is one. These are not labels, because
 * machines already have names.
 */
export function hostNameFault(name: string): string | null {
  if (name !== '' && name.length <= hostNameLength && hostName.test(name)) return null
  return `${quoted(name)} is not a name of a host or worker: ${hostNameRule}.`
}
