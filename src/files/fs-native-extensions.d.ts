/** The part of the package that is used here; the package has no types of its own. */
declare module 'fs-native-extensions' {
  /**
   * Takes the advisory lock of an open file for as long as the file is open; false when somebody else holds it. A shared
   * lock gets on with other shared locks and needs a file that is open for reading, an exclusive one for writing.
   */
  export function tryLock(fd: number, options?: { readonly shared: boolean }): boolean
}
