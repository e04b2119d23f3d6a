/**
 * A catch-up is the frame that brings subscribers to where their group is, in parts. The first part is made at once for all of them. A later part is
 * made when a subscriber can take it, so that a slow subscriber costs no memory; those who ask while it is being made share it.
 */
export class CatchUp<Frame, Made> {
  readonly #parts: Promise<readonly Frame[]>
  readonly #make: (frame: Frame) => Promise<Made>
  readonly #making = new Map<number, Promise<Made>>()

  constructor(parts: Promise<readonly Frame[]>, make: (frame: Frame) => Promise<Made>) {
    this.#parts = parts
    this.#make = make
    const first = parts.then(([frame]) => {
      if (frame === undefined) throw new Error('The frame has no part.')
      return make(frame)
    })
    // Those that catch up ask for it in the same turn. Whoever asks later has it made again.
    const forget = () => void setImmediate(() => this.#making.delete(0))
    first.then(forget, forget)
    this.#making.set(0, first)
  }

  async count(): Promise<number> {
    return (await this.#parts).length
  }

  async part(index: number): Promise<Made> {
    const frame = (await this.#parts)[index]
    const known = this.#making.get(index)
    if (known !== undefined) return known
    if (frame === undefined) throw new Error(`The frame has no part ${index}.`)
    const made = this.#make(frame).finally(() => this.#making.delete(index))
    this.#making.set(index, made)
    return made
  }
}
