import type { ExecutionResult } from 'graphql'
import type { FrameSink } from '../../feed/frameSink.ts'

/** The result of a frame, made once for all subscribers who get it. */
export interface Executed {
  readonly result: ExecutionResult
  /** The result as the first transport that needed it wrote it. */
  bytes: Buffer | null
}

/** Takes the results of frames directly, for transports that send the same bytes to many. */
export type ResultSink = Pick<FrameSink<Executed>, 'ready' | 'whenReady' | 'send'>
