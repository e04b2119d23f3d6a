import { bounds } from '../../model/bounds.ts'
import type { GivenVariable } from '../../model/content.ts'
import { quoted } from '../../model/quoted.ts'
import { builder } from '../kit/builder.ts'
import { type Fault, noneLeft } from '../kit/check.ts'
import { textFaults } from '../kit/values.ts'

const nameRule = `At most ${bounds.variableNameLength} letters, digits, "_" and ".", and no digit first`

const EnvironmentVariableInput = builder.inputType('EnvironmentVariableInput', {
  description: 'A variable of the environment, by name over the profile’s.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: `${nameRule}. XCE_… is reserved, and so is PORT when exactly one port is declared.`,
      check: nameFaults,
    }),
    value: t.string({
      description: `At most ${bounds.variableValueBytes} bytes, without NUL. Null is allowed for a secret only, and keeps the value that is stored: so a secret that was read, which has no value, can be sent back.`,
      check: valueFaults,
    }),
    secret: t.boolean({ defaultValue: false, description: 'Whether the API hides the value.' }),
  }),
})
type Variable = typeof EnvironmentVariableInput.$inferInput

export const environmentField = {
  type: [EnvironmentVariableInput] as [typeof EnvironmentVariableInput],
  required: { list: false, items: true },
  check: (variables: readonly Variable[]): Fault[] => [...listFaults(variables), ...variables.flatMap(missingValue)],
} as const

/** Names of variables that a service does not want. */
export const unsetField = {
  required: { list: false, items: true },
  check: (names: readonly string[]): Fault[] => [
    ...listFaults(names.map((name) => ({ name }))).map(({ path = [], message }) => ({
      path: path.slice(0, 1),
      message,
    })),
    ...names.flatMap((name, at) => nameFaults(name).map(({ message }) => ({ path: [at], message }))),
  ],
} as const

export function environmentOf(variables: readonly Variable[] | null | undefined): GivenVariable[] {
  return (variables ?? []).map(({ name, value, secret, ...rest }) => {
    noneLeft(rest)
    return { name, value: value ?? null, secret: secret ?? false }
  })
}

interface Changed {
  readonly env?: readonly Variable[] | null | undefined
  readonly setEnv?: readonly Variable[] | null | undefined
  readonly unsetEnv?: readonly string[] | null | undefined
}

/** A whole environment and single variables to set contradict one another. */
export function environmentChangeFaults({ env, setEnv, unsetEnv }: Changed): Fault[] {
  if (env === undefined) return setAndUnsetFaults('setEnv', setEnv, unsetEnv)
  if (!setEnv) return setAndUnsetFaults('env', env, unsetEnv)
  const message =
    "setEnv is given together with env: give env to replace all of the service's own variables, or setEnv to change single ones."
  return [{ path: ['setEnv'], message }]
}

/** Nobody can say which of the two a user meant who sets and unsets one variable. */
export function setAndUnsetFaults(field: 'env' | 'setEnv', set: Changed['env'], unset: Changed['unsetEnv']): Fault[] {
  const names = new Set((set ?? []).map(({ name }) => name))
  return (unset ?? []).flatMap((name, at) =>
    names.has(name)
      ? [
          {
            path: ['unsetEnv', at],
            message: `The variable ${quoted(name)} is in ${field} and in unsetEnv: give it in one of them.`,
          },
        ]
      : [],
  )
}

function listFaults(variables: readonly Pick<Variable, 'name'>[]): Fault[] {
  const { max } = bounds.variables
  if (variables.length > max)
    return [
      { message: `There are ${variables.length} variables: at most ${max} are allowed.`, bound: `at most ${max}` },
    ]
  const seen = new Map<string, number>()
  return variables.flatMap(({ name }, at) => {
    const first = seen.get(name)
    seen.set(name, first ?? at)
    if (first === undefined) return []
    const message = `The variable ${quoted(name)} is given twice, first at position ${first}: give it once.`
    return [{ path: [at, 'name'], message }]
  })
}

function missingValue({ name, value, secret }: Variable, at: number): Fault[] {
  if (typeof value === 'string' || secret === true) return []
  const message = `The variable ${quoted(name)} has no value: give one, or leave the variable out. A service removes a variable of its profile with unsetEnv.`
  return [{ path: [at, 'value'], message }]
}

function nameFaults(name: string): Fault[] {
  const { variableNameLength: most } = bounds
  if (name.length > most)
    return [
      {
        message: `The variable's name has ${name.length} characters: at most ${most} are allowed.`,
        bound: `at most ${most} characters`,
      },
    ]
  if (!/^[A-Za-z_.][A-Za-z0-9_.]*$/.test(name)) {
    const message = `${quoted(name)} is no name of a variable: use letters, digits, "_" and ".", and begin with none of the digits.`
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
  if (bytes > most)
    return [{ message: `The value has ${bytes} bytes: at most ${most} are allowed.`, bound: `at most ${most} bytes` }]
  return textFaults('The value', value)
}
