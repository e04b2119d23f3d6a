/** A file or directory that a setting names can't be used. The message is a sentence that says why and what to do. */
export class UnusableError extends Error {
  override name = 'UnusableError'
}

/**
 * Returns the result of `use`. When the system refuses something meanwhile, throws an UnusableError that names `what`, for
 * example "The state directory /x", and ends with `remedy`, which says what to do.
 */
export async function withRemedy<T>(what: string, remedy: string, use: () => T | Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string' && /^E[A-Z0-9]+$/.test(error.code))
      throw new UnusableError(`${what} can't be used (${error.message}): ${remedy}.`)
    throw error
  }
}
