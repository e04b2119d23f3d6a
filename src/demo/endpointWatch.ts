import Table from 'cli-table3'
import pc from 'picocolors'
import type { Api } from './api.ts'

export interface Address {
  id: string
  index: number
  start: number
  hostPort: string
  replicaId: string
}

interface Frame {
  endpointChanged: {
    kind: string
    revision: string
    endpoint: { addresses: Address[] } | null
    added: Address[]
    removed: Address[]
  }
}

const fields = 'id index start hostPort replicaId'
const document = `subscription Watch($service: String!) {
  endpointChanged(service: { name: $service }) { kind revision endpoint { addresses { ${fields} } } added { ${fields} } removed { ${fields} } }
}`
const waitLimitMillis = 60_000
/** A table with columns and without lines. */
const plain = Object.fromEntries(
  [
    'top',
    'top-mid',
    'top-left',
    'top-right',
    'bottom',
    'bottom-mid',
    'bottom-left',
    'bottom-right',
    'left',
    'left-mid',
    'mid',
    'mid-mid',
    'right',
    'right-mid',
    'middle',
  ].map((place) => [place, '']),
)

/** Follows a service's endpoint, prints its table at every frame, and lets the story wait for a certain state. */
export class EndpointWatch {
  addresses: readonly Address[] = []
  readonly #began = performance.now()
  #waiters: {
    holds: (addresses: readonly Address[]) => boolean
    resolve: () => void
    reject: (error: Error) => void
  }[] = []
  #failed: Error | null = null

  constructor(api: Api, service: string) {
    api.subscribe<Frame>(
      document,
      { service },
      ({ endpointChanged: frame }) => {
        if (!frame.endpoint) return
        this.addresses = frame.endpoint.addresses
        this.#print(frame)
        this.#waiters = this.#waiters.filter(({ holds, resolve }) => {
          if (!holds(this.addresses)) return true
          resolve()
          return false
        })
      },
      (error) => {
        this.#failed = error
        for (const { reject } of this.#waiters.splice(0)) reject(error)
      },
    )
  }

  /** Waits until `holds` is true of the addresses. Resolves with the milliseconds since `began`. */
  async until(what: string, began: number, holds: (addresses: readonly Address[]) => boolean): Promise<number> {
    if (this.#failed) throw this.#failed
    if (holds(this.addresses)) return performance.now() - began
    let timer: NodeJS.Timeout | undefined
    await Promise.race([
      new Promise<void>((resolve, reject) => this.#waiters.push({ holds, resolve, reject })),
      new Promise<never>((_, reject) => {
        timer = setTimeout(
          () => reject(new Error(`Waited ${waitLimitMillis / 1000} s for ${what} in vain.`)),
          waitLimitMillis,
        )
      }),
    ]).finally(() => clearTimeout(timer))
    return performance.now() - began
  }

  #print(frame: Frame['endpointChanged']): void {
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(2)
    const changes = [
      ...frame.added.map((a) => pc.green(`+ ${a.hostPort}`)),
      ...frame.removed.map((a) => pc.red(`- ${a.hostPort}`)),
    ].join('  ')
    console.log(`\n${pc.dim(`${seconds} s`)}  ${frame.kind} at revision ${frame.revision}  ${changes}`)
    const table = new Table({
      head: ['index', 'start', 'address', 'replica'],
      style: { head: [], border: [] },
      chars: plain,
    })
    for (const a of [...this.addresses].sort((x, y) => x.index - y.index))
      table.push([a.index, a.start, a.hostPort, a.replicaId])
    console.log(this.addresses.length ? table.toString() : '(no address is ready)')
  }
}
