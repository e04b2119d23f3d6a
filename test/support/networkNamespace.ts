import { execFileSync } from 'node:child_process'
import type { Direction } from './tcpProxy.ts'

let namespaces = 0

/** No machine has these, so what is sent there is gone without a word. */
const nobody = '02:00:00:00:00:01'

/**
 * A host with a network of its own: a namespace of the kernel, joined to this one by a pair of virtual cards. Its network can be cut in either direction
 * as real ones are: packets go nowhere, and nobody is told.
 */
export class NetworkNamespace {
  readonly name: string
  /** Of the host, and of the machine as the host sees it. */
  readonly address: string
  readonly gateway: string
  readonly #card: string
  #isJoined = false

  /** `number`: 1 to 254; it is in the addresses. */
  constructor(number: number) {
    // Names of its own: the kernel takes those of one that was removed away only later.
    const made = ++namespaces
    this.name = `xce-${process.pid}-${made}`
    this.#card = `xce${process.pid % 100_000}v${made}`
    const net = `10.231.${number}`
    this.gateway = `${net}.1`
    this.address = `${net}.2`
    run('netns', 'add', this.name)
    try {
      this.#join()
    } catch (error) {
      this.remove()
      throw error
    }
  }

  #join(): void {
    run('link', 'add', this.#card, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', this.name)
    this.#isJoined = true
    run('address', 'add', `${this.gateway}/24`, 'dev', this.#card)
    run('link', 'set', this.#card, 'up')
    run('-n', this.name, 'address', 'add', `${this.address}/24`, 'dev', 'eth0')
    for (const card of ['lo', 'eth0']) run('-n', this.name, 'link', 'set', card, 'up')
  }

  /** What stands before a command that runs in it. */
  get words(): readonly string[] {
    return ['ip', 'netns', 'exec', this.name]
  }

  /** From now on nothing arrives: of the host at the servers, or of the servers at the host. */
  cut(...directions: Direction[]): void {
    if (directions.includes('toServer'))
      run('-n', this.name, 'neighbour', 'replace', this.gateway, 'lladdr', nobody, 'dev', 'eth0', 'nud', 'permanent')
    if (directions.includes('toClient'))
      run('neighbour', 'replace', this.address, 'lladdr', nobody, 'dev', this.#card, 'nud', 'permanent')
  }

  heal(): void {
    for (const [where, address, card] of [
      [['-n', this.name], this.gateway, 'eth0'],
      [[], this.address, this.#card],
    ] as const) {
      run(...where, 'neighbour', 'flush', 'to', address, 'dev', card, 'nud', 'permanent')
    }
  }

  remove(): void {
    // The card first, so that its addresses are free for the next one at once.
    if (this.#isJoined) run('link', 'delete', this.#card)
    run('netns', 'delete', this.name)
  }

  /** Whether this user may make them here. */
  static get isPossible(): boolean {
    try {
      new NetworkNamespace(254).remove()
      return true
    } catch {
      return false
    }
  }
}

function run(...words: string[]): void {
  execFileSync('ip', words, { stdio: ['ignore', 'ignore', 'pipe'] })
}
