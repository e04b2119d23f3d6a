import { bounds } from './bounds.ts'
import { quoted } from './quoted.ts'

/** What people and their tools note about a service or a profile. It changes nothing of what runs. */
export interface Metadata {
  /** By key. They are short, and lists are filtered by them. */
  readonly labels: Readonly<Record<string, string>>
  /** By key. They are for tools, and may be long. */
  readonly annotations: Readonly<Record<string, string>>
  /** A text for people; null when there is none. */
  readonly description: string | null
}

export const noMetadata: Metadata = { labels: {}, annotations: {}, description: null }

/** A change of metadata. What is left out stays as it is. */
export type MetadataChange = Partial<Metadata>

const name = /^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/
const prefix = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/

/** Says what is wrong with the key of a label or an annotation, by the syntax of Kubernetes; null when nothing is. */
export function keyFault(key: string): string | null {
  const { labelKeyLength: most, labelPrefixLength: mostOfPrefix } = bounds
  const [last = '', ...before] = key.split('/').reverse()
  const given = before.reverse().join('/')
  if (key.split('/').length > 2)
    return `The key ${quoted(key)} has more than one "/": give a DNS name before it, or none.`
  if (last.length < 1 || last.length > most)
    return `The key ${quoted(key)} has a name of ${last.length} characters: give 1 to ${most}.`
  if (!name.test(last))
    return `The key ${quoted(key)} is no name of a label: use letters, digits, "-", "_" and ".", and begin and end with a letter or a digit.`
  if (before.length === 0) return null
  if (given.length > mostOfPrefix || !prefix.test(given))
    return `The key ${quoted(key)} has a prefix that is no DNS name of at most ${mostOfPrefix} characters, such as example.com.`
  return null
}

/** Says what is wrong with the value of a label; null when nothing is. An empty value is allowed. */
export function labelValueFault(value: string): string | null {
  const { labelValueLength: most } = bounds
  if (value.length > most)
    return `The value ${quoted(value)} has ${value.length} characters: at most ${most} are allowed.`
  if (value === '' || name.test(value)) return null
  return `The value ${quoted(value)} is no value of a label: use letters, digits, "-", "_" and ".", and begin and end with a letter or a digit.`
}

/** Two maps have the same values for the same keys. */
export function sameMap(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}

/** The parts of a change that differ from what there is, in words. */
export function changedParts(before: Metadata, change: MetadataChange): string[] {
  const { labels, annotations, description } = change
  return [
    ...(labels !== undefined && !sameMap(before.labels, labels) ? ['labels'] : []),
    ...(annotations !== undefined && !sameMap(before.annotations, annotations) ? ['annotations'] : []),
    ...(description !== undefined && before.description !== description ? ['description'] : []),
  ]
}
