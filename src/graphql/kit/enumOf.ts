import { builder } from './builder.ts'

/**
 * Makes an enum of the API from one of prisma/schema.prisma or model/. A value without a description does not compile.
 */
export function enumOf<Value extends string>(
  name: string,
  description: string,
  values: Readonly<Record<Value, string>>,
) {
  const described = Object.fromEntries(
    Object.entries<string>(values).map(([value, meaning]) => [value, { description: meaning }]),
  )
  return builder.enumType(name, { description, values: described as Record<Value, { description: string }> })
}
