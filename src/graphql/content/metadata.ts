import { bounds } from '../../model/bounds.ts'
import { keyFault, labelValueFault, type MetadataChange } from '../../model/metadata.ts'
import { quoted } from '../../model/quoted.ts'
import { builder } from '../kit/builder.ts'
import { type Fault, noneLeft } from '../kit/check.ts'
import type { InputFields } from '../kit/mutation.ts'
import { faultOf, textFaults } from '../kit/values.ts'

interface Pair {
  readonly key: string
  readonly value: string
}

const keyRule = `a name of at most ${bounds.labelKeyLength} letters, digits, "-", "_" and ".", and before it, if you like, a DNS name and "/"`

const LabelInput = builder.inputType('LabelInput', {
  description: 'A label, by which lists can be filtered.',
  fields: (t) => ({
    key: t.string({ required: true, description: `The key: ${keyRule}.`, check: (key) => faultOf(keyFault(key)) }),
    value: t.string({
      required: true,
      description: `The value, at most ${bounds.labelValueLength} letters, digits, "-", "_" and "."; it may be empty.`,
      check: (value) => faultOf(labelValueFault(value)),
    }),
  }),
})

const AnnotationInput = builder.inputType('AnnotationInput', {
  description: 'An annotation, which is a note for tools.',
  fields: (t) => ({
    key: t.string({ required: true, description: `The key: ${keyRule}.`, check: (key) => faultOf(keyFault(key)) }),
    value: t.string({
      required: true,
      description: `Any text. Keys and values of all annotations have together at most ${bounds.annotationBytes} bytes.`,
      check: (value) => textFaults('The value', value),
    }),
  }),
})

/** Declares what people and tools note about a service or a profile. `otherwise` says what holds for a field that is left out. */
export function metadataFields(t: InputFields, otherwise: string) {
  return {
    labels: t.field({
      type: [LabelInput],
      required: { list: false, items: true },
      description: `At most ${bounds.labels.max} labels, each key once, which replace all earlier ones. ${otherwise}`,
      check: listFaults,
    }),
    annotations: t.field({
      type: [AnnotationInput],
      required: { list: false, items: true },
      description: `At most ${bounds.labels.max} annotations, each key once, which replace all earlier ones. ${otherwise}`,
      check: (pairs: readonly Pair[]) => [...listFaults(pairs), ...sizeFaults(pairs)],
    }),
    description: t.string({
      description: `A text for people, at most ${bounds.descriptionLength} characters. ${otherwise}`,
      check: descriptionFaults,
    }),
  }
}

interface Given {
  readonly labels?: readonly Pair[] | null | undefined
  readonly annotations?: readonly Pair[] | null | undefined
  readonly description?: string | null | undefined
}

/** Parts the fields of `metadataFields` from the rest of an input. Null clears a field. */
export function metadataOf<Input extends Given>(
  input: Input,
): { readonly metadata: MetadataChange; readonly rest: Omit<Input, keyof Given> } {
  const { labels, annotations, description, ...rest } = input
  const metadata = {
    ...(labels === undefined ? {} : { labels: mapOf(labels ?? []) }),
    ...(annotations === undefined ? {} : { annotations: mapOf(annotations ?? []) }),
    ...(description === undefined ? {} : { description: description ?? null }),
  }
  return { metadata, rest }
}

function mapOf(pairs: readonly Pair[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map(({ key, value, ...rest }) => {
      noneLeft(rest)
      return [key, value]
    }),
  )
}

function listFaults(pairs: readonly Pair[]): Fault[] {
  const { max } = bounds.labels
  if (pairs.length > max)
    return [{ message: `There are ${pairs.length} of them: at most ${max} are allowed.`, bound: `at most ${max}` }]
  const keys = new Set<string>()
  return pairs.flatMap(({ key }, at) => {
    if (!keys.has(key)) {
      keys.add(key)
      return []
    }
    return [{ path: [at, 'key'], message: `The key ${quoted(key)} is given twice: give it once.` }]
  })
}

function sizeFaults(pairs: readonly Pair[]): Fault[] {
  const bytes = pairs.reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  if (bytes <= bounds.annotationBytes) return []
  return [
    {
      message: `The annotations have ${bytes} bytes: at most ${bounds.annotationBytes} are allowed.`,
      bound: `at most ${bounds.annotationBytes} bytes`,
    },
  ]
}

function descriptionFaults(text: string): Fault[] {
  const { descriptionLength: most } = bounds
  if (text.length > most)
    return [
      {
        message: `The description has ${text.length} characters: at most ${most} are allowed.`,
        bound: `at most ${most} characters`,
      },
    ]
  return textFaults('The description', text)
}

export const Label = builder.objectRef<Pair>('Label').implement({
  description: 'A label, by which lists can be filtered.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'The key.' }),
    value: t.exposeString('value', { description: 'The value.' }),
  }),
})

export const Annotation = builder.objectRef<Pair>('Annotation').implement({
  description: 'An annotation, which is a note for tools.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'The key.' }),
    value: t.exposeString('value', { description: 'The value.' }),
  }),
})

/** Lists a map by its keys. */
export function pairsOf(map: Readonly<Record<string, string>>): Pair[] {
  const entries = Object.entries(map).map(([key, value]) => ({ key, value }))
  return entries.sort((one, other) => (one.key < other.key ? -1 : 1))
}
