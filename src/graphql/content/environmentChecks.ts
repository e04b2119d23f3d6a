import { z } from 'zod'
import { bounds } from '../../model/bounds.ts'
import { quoted } from '../../model/quoted.ts'
import { type Fault, faultless, textFaults } from '../kit/values.ts'

const variable = z.object({ name: z.string(), value: z.string().nullish(), secret: z.boolean().nullish() })
type Variable = z.output<typeof variable>

/** The variables of a profile: each has a value. */
export const profileEnvironment = faultless(z.array(variable), (variables) => [
  ...listFaults(variables),
  ...variables.flatMap(({ name, value }, at) =>
    typeof value === 'string'
      ? []
      : [
          {
            path: [at, 'value'],
            message: `The variable ${quoted(name)} has no value: give one, or leave the variable out.`,
          },
        ],
  ),
])

/** The variables of a service, over the profile's: a value of null removes the profile's. */
export const ownEnvironment = faultless(z.array(variable), listFaults)

function listFaults(variables: readonly Variable[]): Fault[] {
  const { max } = bounds.variables
  if (variables.length > max)
    return [{ message: `There are ${variables.length} variables: at most ${max} are allowed.` }]
  const seen = new Map<string, number>()
  return variables.flatMap(({ name, value }, at) => {
    const first = seen.get(name)
    seen.set(name, first ?? at)
    const repeated =
      first === undefined
        ? []
        : [`The variable ${quoted(name)} is given twice, first at position ${first}: give it once.`]
    return [
      ...[...nameFaults(name), ...repeated].map((message) => ({ path: [at, 'name'], message })),
      ...valueFaults(value ?? '').map((message) => ({ path: [at, 'value'], message })),
    ]
  })
}

function nameFaults(name: string): string[] {
  const { variableNameLength: most } = bounds
  if (name.length > most) return [`The variable's name has ${name.length} characters: at most ${most} are allowed.`]
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return [`${quoted(name)} is no name of a variable: use letters, digits and "_", and begin with none of the digits.`]
  // R13: they say what the replica was given, so nothing may say otherwise.
  if (/^XCE_/.test(name)) return [`${quoted(name)} is reserved: names that begin with XCE_ are set by the system.`]
  return []
}

function valueFaults(value: string): string[] {
  const bytes = Buffer.byteLength(value)
  const { variableValueBytes: most } = bounds
  if (bytes > most) return [`The value has ${bytes} bytes: at most ${most} are allowed.`]
  return textFaults('The value', value).map(({ message }) => message)
}
