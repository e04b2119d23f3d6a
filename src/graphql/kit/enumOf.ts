import { builder } from './builder.ts'

/** An enum of the API over one of prisma/schema.prisma (or of model/): every value has to be described, which the compiler holds. */
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
