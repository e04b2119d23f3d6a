import { accessSync, closeSync, constants, openSync, readdirSync, readSync } from 'node:fs'

/** The first page has what the kernel looks at: 256 bytes of a script's first line, and the headers of an ELF file. */
const headBytes = 4_096

/**
 * Says why the kernel would not execute a file because of what is in it, as the end of a sentence; null when it would, or
 * when that can't be known. A shell tells only "not found" or "Exec format error" of these, or runs the file as a script.
 */
export function formatFault(file: string): string | null {
  const head = readHead(file)
  if (head === null) return null // a file may be executable without being readable
  if (head.toString('latin1', 0, 2) === '#!') return scriptFault(head)
  if (head.toString('latin1', 0, 4) === '\x7fELF') return elfFault(head)
  if (hasOtherFormats()) return null
  return `the kernel does not know its format (ENOEXEC). A script begins with a line such as #!/bin/sh`
}

function scriptFault(head: Buffer): string | null {
  const [line = ''] = head.toString('utf8', 2, 256).split('\n', 1)
  const interpreter = line.replace(/^[ \t]+/, '').split(/[ \t\0]/, 1)[0] ?? ''
  if (interpreter === '' || interpreter === '\r')
    return 'its first line names no interpreter after #! (ENOEXEC): write for example #!/bin/sh'
  if (!interpreter.startsWith('/') || isExecutable(interpreter)) return null
  const missing = `its interpreter ${JSON.stringify(interpreter)} does not exist or is not executable on this host (ENOENT)`
  return interpreter.endsWith('\r') ? `${missing}. Its lines end with CR LF: save the file with LF` : missing
}

function elfFault(head: Buffer): string | null {
  const own = readHead(process.execPath)
  const [name, ownName] = [machineOf(head), own === null ? null : machineOf(own)]
  if (ownName !== null && name !== ownName && !canRun(ownName, name) && !hasOtherFormats())
    return `it is a program for ${name}, and this host is ${ownName} (ENOEXEC)`
  const loader = loaderOf(head)
  if (loader === null || isExecutable(loader)) return null
  return `the loader ${loader}, which it needs, does not exist on this host (ENOENT): it was built for another system`
}

/** By the number in an ELF header. */
const machines = new Map([
  [3, 'x86 (32 bits)'],
  [21, 'POWER'],
  [22, 'IBM Z'],
  [40, 'ARM (32 bits)'],
  [62, 'x86-64'],
  [183, 'ARM64'],
  [243, 'RISC-V'],
])

function machineOf(head: Buffer): string {
  if (head.length < 20) return 'an unknown machine'
  const number = isLittle(head) ? head.readUInt16LE(18) : head.readUInt16BE(18)
  return machines.get(number) ?? `the machine with the ELF number ${number}`
}

/** Kernels of 64 bits often run programs of 32 bits. */
function canRun(own: string, other: string): boolean {
  return (own === 'x86-64' && other === 'x86 (32 bits)') || (own === 'ARM64' && other === 'ARM (32 bits)')
}

function isLittle(head: Buffer): boolean {
  return head[5] === 1
}

const loaderSegment = 3

/** The path in the program header PT_INTERP of a 64-bit little-endian file; null for a static program, or when it is further behind. */
function loaderOf(head: Buffer): string | null {
  if (head.length < 64 || head[4] !== 2 || !isLittle(head)) return null
  const table = Number(head.readBigUInt64LE(32))
  const [size, count] = [head.readUInt16LE(54), head.readUInt16LE(56)]
  for (let at = table; at < table + size * count && at + 56 <= head.length; at += size) {
    if (head.readUInt32LE(at) !== loaderSegment) continue
    const [from, length] = [Number(head.readBigUInt64LE(at + 8)), Number(head.readBigUInt64LE(at + 32))]
    return from + length <= head.length ? head.toString('utf8', from, from + length).replace(/\0.*$/s, '') : null
  }
  return null
}

/** Whether the kernel was told of further formats, for example of programs for other machines (binfmt_misc). */
function hasOtherFormats(): boolean {
  try {
    return readdirSync('/proc/sys/fs/binfmt_misc').some((name) => name !== 'register' && name !== 'status')
  } catch {
    return false
  }
}

function readHead(file: string): Buffer | null {
  const buffer = Buffer.alloc(headBytes)
  try {
    const descriptor = openSync(file, 'r')
    try {
      return buffer.subarray(0, readSync(descriptor, buffer))
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return null
  }
}

/** Says whether this user may execute the file. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
