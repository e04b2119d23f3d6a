import { bounds } from '../../model/bounds.ts'
import { builder } from './builder.ts'

// Fields and types that several inputs share.

export const keyDescription = `Any text of 1 to ${bounds.idempotencyKeyLength} characters that you make up for one wish. For 24 hours the same key and input return the same objects, read now; another input is an IdempotencyMismatchError.`

export const expectedDescription =
  "The service's specRevision that you decided on: another one now is a ConflictError. Left out: not compared."

export const EnvironmentVariableInput = builder.inputType('EnvironmentVariableInput', {
  description: 'A variable of the environment, by name over the profile’s.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: `Letters, digits and "_", not beginning with a digit, at most ${bounds.variableNameLength}. XCE_… is reserved, and PORT where exactly one port is declared.`,
    }),
    value: t.string({
      description: `At most ${bounds.variableValueBytes} bytes, without NUL. Null in a service removes the profile's variable; a profile's needs a value.`,
    }),
    secret: t.boolean({ defaultValue: false, description: 'Whether the API hides the value.' }),
  }),
})
