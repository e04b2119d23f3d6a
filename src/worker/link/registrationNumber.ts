import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Logger } from 'pino'
import { writeWhole } from '../../files/writeWhole.ts'

/**
 * The number for the next registration. It is higher than all earlier numbers of this state directory, so that servers can
 * tell the latest registration when several are on their way. It is written down before it is used. Where that fails, or
 * an old copy of the directory has come back, a server refuses the number and returns the newest one.
 *
 * The number is also above `above`, which is a number that a server returned. The caller holds the directory's lock.
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

/** The largest value of GraphQL's Int. */
const largest = 2 ** 31 - 1
