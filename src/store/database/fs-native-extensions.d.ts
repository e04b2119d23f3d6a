/** The part that is used here; the package has no types of its own. */
declare module 'fs-native-extensions' {
  /** Takes the exclusive advisory lock of an open file for as long as it is open; false when somebody else holds it. */
  export function tryLock(fd: number): boolean
}
