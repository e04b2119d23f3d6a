import pc from 'picocolors'
import type { Line } from '../scenarioRun.ts'
import type { Simulation } from '../simulation.ts'

/** How many lines are printed without --all. Mistakes are always printed. */
const mostLines = 1_000

/** Prints a timeline as it grows: virtual time, subject, sentence. */
export class Timeline {
  readonly #begin: number
  readonly #lines: 'none' | 'some' | 'all'
  #printed = 0
  left = 0
  faults = 0

  constructor(begin: number, lines: 'none' | 'some' | 'all') {
    this.#begin = begin
    this.#lines = lines
  }

  readonly print = ({ at, subject, message, isFault }: Line): void => {
    if (isFault) this.faults++
    else if (this.#lines === 'none' || (this.#lines === 'some' && this.#printed >= mostLines)) {
      this.left++
      return
    }
    this.#printed++
    const text = `${timeText(at - this.#begin).padStart(10)}  ${subject.padEnd(12)}  ${message}`
    console.log(isFault ? pc.red(text) : text)
  }

  end(): void {
    if (this.left > 0 && this.#lines === 'some')
      console.log(`${''.padStart(10)}  … and ${this.left} more lines (--all prints them).`)
  }
}

/** Writes a time as 0:05.3, 12:00 or 1:02:03. Parts left out are 0. */
export function timeText(millis: number): string {
  const tenths = Math.round(millis / 100)
  const seconds = Math.floor(tenths / 10)
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  const fraction = tenths % 10 === 0 ? '' : `.${tenths % 10}`
  const two = (value: number) => String(value).padStart(2, '0')
  return `${h > 0 ? `${h}:${two(m)}` : m}:${two(s)}${fraction}`
}

const mostServices = 20

/** Prints how the services are at the end. */
export function printServices({ store: { services } }: Simulation): void {
  console.log('')
  let shown = 0
  for (const { snapshot, watch } of services.values()) {
    if (++shown > mostServices) continue
    const { columns, rollout, name } = snapshot
    const { availableReplicas, desiredReplicas, versionNumber, activeReplicas } = columns
    const status = columns.deletedAt === null ? columns.status : 'gone'
    const low =
      watch.lowestAvailable === null ? 'never all available' : `available never under ${watch.lowestAvailable}`
    console.log(
      `${name}: ${status}, version ${versionNumber}, ${availableReplicas} of ${desiredReplicas} available, ${activeReplicas} active; ${low}, active never over ${watch.highestActive}; rollout ${rollout.number} ${rollout.state}`,
    )
    for (const { reason, message } of columns.blockers) console.log(`  ${reason}: ${message}`)
  }
  if (shown > mostServices) console.log(`… and ${shown - mostServices} more services.`)
}

export function printSpeed(simulation: Simulation, begin: number, realMillis: number): void {
  const { commits, facts, hosts, services } = simulation.store
  let replicas = 0
  for (const { snapshot } of services.values()) replicas += snapshot.replicas.size
  const virtualSeconds = (simulation.store.now - begin) / 1_000
  const realSeconds = Math.max(realMillis, 1) / 1_000
  const round = (value: number) => Math.round(value).toLocaleString('en')
  const memoryMiB = process.resourceUsage().maxRSS / 1_024
  console.log(
    `${round(commits)} commits and ${round(facts)} facts of ${services.size} services with ${round(replicas)} replicas on ${round(hosts.size)} hosts: ${timeText(simulation.store.now - begin)} of virtual time in ${realSeconds.toFixed(2)} s (${round(commits / realSeconds)} commits/s, ${round(virtualSeconds / realSeconds)} × real time), with at most ${round(memoryMiB)} MiB of memory.`,
  )
}
