/** Values that were said, may be; null and undefined: nothing was. */
export type Nullish<T> = { readonly [Key in keyof T]?: T[Key] | null | undefined }

/** What was said, and nothing of the rest. */
export function withoutNulls<T extends object>(values: Nullish<T>): Partial<T> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<T>
}
