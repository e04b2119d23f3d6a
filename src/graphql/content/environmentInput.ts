import { bounds } from '../../model/bounds.ts'
import type { Overrides } from '../../model/content.ts'
import { quoted } from '../../model/quoted.ts'
import { builder } from '../kit/builder.ts'
import { type Fault, noneLeft } from '../kit/check.ts'
import { textFaults } from '../kit/values.ts'

const EnvironmentVariableInput = builder.inputType('EnvironmentVariableInput', {
  description: 'A variable of the environment, by name over the profile’s.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: `At most ${bounds.variableNameLength} letters, digits and "_", and no digit first. XCE_… is reserved, and so is PORT when exactly one port is declared.`,
      check: nameFaults,
    }),
    value: t.string({
      description: `At most ${bounds.variableValueBytes} bytes, without NUL. In a service, null removes the profile's variable; in a profile a value is required.`,
      check: valueFaults,
    }),
    secret: t.boolean({ defaultValue: false, description: 'Whether the API hides the value.' }),
  }),
})
type Variable = typeof EnvironmentVariableInput.$inferInput

/** Variables of a service, which replace the profile's. A value of null removes the profile's variable. */
export const environmentField = {
  type: [EnvironmentVariableInput] as [typeof EnvironmentVariableInput],
  required: { list: false, items: true },
  check: listFaults,
} as const

/** The variables of a profile. Each needs a value. */
export const profileEnvironmentField = {
  ...environmentField,
  check: (variables: readonly Variable[]): Fault[] => [...listFaults(variables), ...variables.flatMap(missingValue)],
} as const

export function environmentOf(variables: readonly Variable[] | null | undefined): Overrides['env'] {
  return (variables ?? []).map(({ name, value, secret, ...rest }) => {
    noneLeft(rest)
    return { name, value: value ?? null, secret: secret ?? false }
  })
}

function listFaults(variables: readonly Variable[]): Fault[] {
  const { max } = bounds.variables
  if (variables.length > max)
    return [{ message: `There are ${variables.length} variables: at most ${max} are allowed.` }]
  const seen = new Map<string, number>()
  return variables.flatMap(({ name }, at) => {
    const first = seen.get(name)
    seen.set(name, first ?? at)
    if (first === undefined) return []
    const message = `The variable ${quoted(name)} is given twice, first at position ${first}: give it once.`
    return [{ path: [at, 'name'], message }]
  })
}

function missingValue({ name, value }: Variable, at: number): Fault[] {
  if (typeof value === 'string') return []
  const message = `The variable ${quoted(name)} has no value: give one, or leave the variable out.`
  return [{ path: [at, 'value'], message }]
}

function nameFaults(name: string): Fault[] {
  const { variableNameLength: most } = bounds
  if (name.length > most)
    return [{ message: `The variable's name has ${name.length} characters: at most ${most} are allowed.` }]
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    const message = `${quoted(name)} is no name of a variable: use letters, digits and "_", and begin with none of the digits.`
    return [{ message }]
  }
  // These variables say what the replica was given, so no other value may replace them (R13).
  if (/^XCE_/.test(name))
    return [{ message: `${quoted(name)} is reserved: names that begin with XCE_ are set by the system.` }]
  return []
}

function valueFaults(value: string): Fault[] {
  const bytes = Buffer.byteLength(value)
  const { variableValueBytes: most } = bounds
  if (bytes > most) return [{ message: `The value has ${bytes} bytes: at most ${most} are allowed.` }]
  return textFaults('The value', value)
}
