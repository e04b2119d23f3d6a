/** Values that were said, may be; null and undefined: nothing was. */
export type Said<T> = { readonly [Key in keyof T]?: T[Key] | null | undefined }

/** What was said, and nothing of the rest. */
export function given<T extends object>(said: Said<T>): Partial<T> {
  return Object.fromEntries(
    Object.entries(said).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<T>
}
