import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Logger } from 'pino'
import { writeWhole } from '../../files/writeWhole.ts'

/**
 * A number for the registration that is sent next, above those of all that this state directory has sent before: of several on their way to servers the
 * latest counts. Kept before it is used. Where it can't be, or an old copy of the directory has come back, the servers refuse it and tell which is the newest.
 *
 * `above`: what a server told. Call it with the directory locked.
 */
export function nextRegistrationNumber(stateDirectory: string, above: number, log: Logger): number {
  const file = path.join(stateDirectory, 'registrations')
  const number = Math.max(lastNumber(file), above) + 1
  try {
    writeWhole(file, `${number}\n`)
  } catch (error) {
    log.warn({ err: error }, 'the number of this registration could not be kept: the next one may be refused once')
  }
  return number
}

function lastNumber(file: string): number {
  try {
    const number = Number(readFileSync(file, 'utf8'))
    return Number.isInteger(number) && number > 0 && number < largest ? number : 0
  } catch {
    return 0
  }
}

/** Of GraphQL's Int. */
const largest = 2 ** 31 - 1
