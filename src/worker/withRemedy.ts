/** A file or directory that a setting names can't be used; the message is a sentence that says why, and what to do. */
export class UnusableError extends Error {
  override name = 'UnusableError'
}

/**
 * The result of `use`. Where the system refuses something meanwhile, that is told of `what`, such as "The state directory /x", which `remedy` mends:
 * throws UnusableError.
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
