import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { writeWhole } from './writeWhole.ts'

/**
 * What tells this state directory from every other one, over restarts: the servers take the same one for the same worker. Made when it is not there.
 * Call it with the directory locked. Throws where it can't be written.
 */
export function instanceOf(stateDirectory: string): string {
  const file = path.join(stateDirectory, 'instance')
  const known = readIfThere(file).trim()
  if (known !== '') return known
  const made = randomUUID()
  writeWhole(file, `${made}\n`)
  return made
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
