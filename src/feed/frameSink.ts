/** Where a subscriber's frames go. `Made` is a frame as it was made for all alike. */
export interface FrameSink<Made> {
  /** Whether it takes a frame now. */
  readonly ready: boolean
  /** Calls back once, when it takes a frame again; a later callback replaces an earlier one. */
  whenReady(callback: () => void): void
  send(made: Made): void
  /** Nothing follows. `error`: why, unless the last frame said so. */
  end(error: unknown): void
}
