import type { ExecutionResult } from 'graphql'
import type { FrameSink } from '../../feed/frameSink.ts'

/** The result of a frame, made once for all who get it. */
export interface Executed {
  readonly result: ExecutionResult
  /** The result as the first transport that needed it wrote it. */
  bytes: Buffer | null
}

/** Where the results of frames go directly, for transports that send the same bytes to many. */
export type ResultSink = Pick<FrameSink<Executed>, 'ready' | 'whenReady' | 'send'>
