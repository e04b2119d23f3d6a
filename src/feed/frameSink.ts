/** A frame as it was made once for all who share it. */
export interface SharedFrame {
  /** Bytes that it takes as it is sent. It is written for this, once. */
  readonly size: number
  /** Keeps nothing but what was written, because it waits for somebody. */
  keepBytes(): void
}

/** A sink takes a subscriber's frames. `Made` is a frame as it was made once for all who share it. */
export interface FrameSink<Made> {
  /** Whether it takes a frame now. */
  readonly ready: boolean
  /** Calls back once, when it takes a frame again; a later callback replaces an earlier one. */
  whenReady(callback: () => void): void
  send(made: Made): void
  /** Tells that nothing follows. `error` says why; it is null when the last frame said so. */
  end(error: unknown): void
}
