import { readFileSync } from 'node:fs'

/**
 * Seconds since the machine started. Processes' start times are on it, it goes on over the worker's own restarts, and nobody sets it: the
 * wall clock may jump, this may not.
 */
export function bootSeconds(): number {
  return Number.parseFloat(readFileSync('/proc/uptime', 'utf8'))
}

/** Another one after each start of the machine: nothing that ran before is left. */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}
