/** An object whose members may be missing, null or undefined: none of these is a value. */
export type Nullish<T> = { readonly [Key in keyof T]?: T[Key] | null | undefined }

/** Leaves out the members that are null or undefined. */
export function withoutNulls<T extends object>(values: Nullish<T>): Partial<T> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<T>
}
