import type { Instant, ReplicaId } from '../../model/id.ts'

export type LogStream = 'STDOUT' | 'STDERR'

/**
 * From a line of a stream on: when the worker first saw it, by the clock of its machine, and the start that wrote it.
 * Null where the worker does not know.
 */
export interface LogMark {
  readonly stream: LogStream
  readonly line: number
  readonly at: Instant | null
  readonly start: number | null
}

/** The last lines of a replica's output. `truncated` says that there was more than was asked for or kept. */
export interface LogText {
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
  readonly truncated: boolean
  readonly marks: readonly LogMark[]
  readonly starts: readonly { readonly start: number; readonly at: Instant }[]
}

export interface LogLine {
  readonly stream: LogStream
  readonly text: string
  readonly at: Instant | null
  readonly start: number | null
}

/** Both streams in the order in which the worker saw their lines; of one look, standard output comes first. */
export function linesOf({ stdout, stderr, marks }: Pick<LogText, 'stdout' | 'stderr' | 'marks'>): LogLine[] {
  const [out, err] = [marked('STDOUT', stdout, marks), marked('STDERR', stderr, marks)]
  const lines: LogLine[] = []
  let at = 0
  for (const line of out) {
    for (let next = err[at]; next !== undefined && timeOf(next) < timeOf(line); next = err[++at]) lines.push(next)
    lines.push(line)
  }
  return [...lines, ...err.slice(at)]
}

/** What no mark says is older than all that one says. */
const timeOf = ({ at }: LogLine) => at ?? Number.NEGATIVE_INFINITY

function marked(stream: LogStream, texts: readonly string[], marks: readonly LogMark[]): LogLine[] {
  const own = marks.filter((mark) => mark.stream === stream)
  let mark = -1
  return texts.map((text, line) => {
    while ((own[mark + 1]?.line ?? Number.POSITIVE_INFINITY) <= line) mark += 1
    return { stream, text, at: own[mark]?.at ?? null, start: own[mark]?.start ?? null }
  })
}

/** What a worker is asked for. Its answer names the `id`. */
export interface LogRequest {
  readonly id: string
  readonly replica: ReplicaId
  readonly tailLines: number
}
