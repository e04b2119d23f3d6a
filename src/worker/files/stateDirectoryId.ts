import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { writeWhole } from '../../files/writeWhole.ts'

/**
 * What tells this state directory from every other one, over restarts: the servers take the same one for the same worker. Made when it is not there,
 * and made anew when the directory has come to another machine, in a copy of a disk for example: nothing that it tells of runs there.
 * `machine`: null where it is not known. Call it with the directory locked. Throws where it can't be written.
 */
export function stateDirectoryIdOf(stateDirectory: string, machine: string | null = machineId()): string {
  const [file, machineFile] = [path.join(stateDirectory, 'instance'), path.join(stateDirectory, 'machine')]
  const [known, knownMachine] = [readIfThere(file), readIfThere(machineFile)]
  const isElsewhere = machine !== null && knownMachine !== '' && knownMachine !== machine
  const instance = known === '' || isElsewhere ? randomUUID() : known
  if (instance !== known) writeWhole(file, `${instance}\n`)
  if (machine !== null && machine !== knownMachine) writeWhole(machineFile, `${machine}\n`)
  return instance
}

/** machine-id(5); null where there is none, as in most containers. */
function machineId(): string | null {
  const id = readIfThere('/etc/machine-id')
  return /^[0-9a-f]{32}$/.test(id) ? id : null
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return ''
  }
}
