import type { Instant } from '../../model/id.ts'
import type { LogRun, LogStreamName } from '../../model/replicaLog.ts'

export interface LogLine {
  readonly stream: LogStreamName
  readonly at: Instant | null
  readonly start: number | null
  readonly text: string
  /** Whether the line goes on. */
  readonly cut: boolean
}

/** The lines of an answer, one by one. */
export function linesOf({ runs }: { readonly runs: readonly LogRun[] }): LogLine[] {
  return runs.flatMap(({ stream, at, start, lines, cut }) =>
    lines.map((text, index) => ({ stream, at, start, text, cut: cut && index === lines.length - 1 })),
  )
}
