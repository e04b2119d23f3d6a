import { statSync } from 'node:fs'
import path from 'node:path'
import { formatFault, isExecutable } from './binaryFormat.ts'

/** A command that can be started, or the reason why it can't, as a sentence. */
export type Executable =
  | { readonly kind: 'found'; readonly file: string }
  | { readonly kind: 'fault'; readonly message: string }

/**
 * Finds the program that a command's first word names, as execvp(3) does, and says exactly why it can't be started; a
 * shell would only exit with status 127. The result is always a path, so that no shell built-in can take its place.
 */
export function findExecutable(word: string, searchPath: string, workingDirectory: string): Executable {
  const directory = directoryFault(workingDirectory)
  if (directory !== null) return fault(directory)
  if (word === '') return fault('The command is an empty word: give the program to start.')
  if (word.includes('/')) return check(word, path.resolve(workingDirectory, word))
  let denied: Executable | null = null
  for (const entry of searchPath.split(':')) {
    const file = path.resolve(workingDirectory, entry, word)
    const found = check(word, file)
    if (found.kind === 'found') return found
    if (isFile(file)) denied ??= found
  }
  return (
    denied ??
    fault(
      `The command ${quote(word)} was not found in PATH (${searchPath}): correct the command, or install it on this host.`,
    )
  )
}

function check(word: string, file: string): Executable {
  if (!exists(file)) return fault(`The command ${quote(word)} does not exist: there is no ${file} on this host.`)
  if (!isFile(file)) return fault(`The command ${quote(word)} cannot be executed: ${file} is not a file.`)
  if (!isExecutable(file))
    return fault(
      `The command ${quote(word)} cannot be executed: ${file} is not executable for this user. Try chmod +x.`,
    )
  const format = formatFault(file)
  if (format !== null) return fault(`The command ${quote(word)} cannot be executed: ${file}: ${format}.`)
  return { kind: 'found', file }
}

function directoryFault(directory: string): string | null {
  if (!exists(directory))
    return `The working directory ${directory} does not exist on this host: create it or correct the profile.`
  if (!statSync(directory).isDirectory()) return `The working directory ${directory} is not a directory.`
  return isExecutable(directory) ? null : `The working directory ${directory} cannot be entered by this user.`
}

function exists(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false // a part of the path is a file or can't be entered
  }
}

function isFile(file: string): boolean {
  return exists(file) && statSync(file).isFile()
}

function fault(message: string): Executable {
  return { kind: 'fault', message }
}

function quote(text: string): string {
  return JSON.stringify(text)
}
