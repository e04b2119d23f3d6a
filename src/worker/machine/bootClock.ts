import { readFileSync } from 'node:fs'

/**
 * Seconds since the machine started. The start times of processes are on the same clock, it runs on while the worker
 * restarts, and nobody can set it: the wall clock may jump, this clock can't.
 */
export function bootSeconds(): number {
  return Number.parseFloat(readFileSync('/proc/uptime', 'utf8'))
}

/** The id changes with every start of the machine: a different id means that no earlier process is left. */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}
