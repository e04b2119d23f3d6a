import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { writeWhole } from '../../files/writeWhole.ts'
import { UnusableError } from '../withRemedy.ts'

/** Versions before the first release kept the id in this file. No database knows a worker of theirs. */
const unreleasedFile = 'instance'

/**
 * The id that distinguishes this state directory from every other one, over restarts; servers recognize a worker by it. A
 * missing id is made. When the directory has come to another machine, for example in a copy of a disk, a new id is made,
 * because nothing that the directory records runs there. `machine` is null where the machine's id is not known. The
 * caller holds the lock of the directory. Throws UnusableError for a directory that was made before the first release,
 * and the system's error when the id can't be written.
 */
export function stateDirectoryIdOf(stateDirectory: string, machine: string | null = machineId()): string {
  const [file, machineFile] = [path.join(stateDirectory, 'id'), path.join(stateDirectory, 'machine')]
  const [known, knownMachine] = [readIfThere(file), readIfThere(machineFile)]
  if (known === '' && existsSync(path.join(stateDirectory, unreleasedFile)))
    throw new UnusableError(
      `The state directory ${stateDirectory} was made by an unreleased version of XCE Services and can't be taken over: let that version's worker stop its replicas (SIGUSR2), and choose an empty one with --state-dir.`,
    )
  const isElsewhere = machine !== null && knownMachine !== '' && knownMachine !== machine
  const id = known === '' || isElsewhere ? randomUUID() : known
  if (id !== known) writeWhole(file, `${id}\n`)
  if (machine !== null && machine !== knownMachine) writeWhole(machineFile, `${machine}\n`)
  return id
}

/** The id of machine-id(5); null where the machine has none, as in most containers. */
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
