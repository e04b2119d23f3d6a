import { bounds } from '../../model/bounds.ts'
import {
  type LogAnswer,
  type LogPosition,
  type LogQuestion,
  type LogRun,
  type LogState,
  longestPiece,
  positionOf,
  positionText,
} from '../../model/replicaLog.ts'
import type { OpenLog, StreamFiles } from './logFiles.ts'
import { type LogMark, MarkReader, startsOf } from './logMarks.ts'
import { characterStart, lineBreak, type Piece, piecesOf, secondLine } from './logPieces.ts'
import { type LogStream, logStreams } from './replicaFiles.ts'

interface DatedPiece extends Piece {
  readonly stream: LogStream
  readonly at: number | null
  readonly start: number | null
}

/** What was found in the streams, before it is bounded. */
interface Found {
  readonly pieces: readonly DatedPiece[]
  readonly isMore: boolean
}

type Places = Readonly<Record<LogStream, number>>

/** Nobody can have asked for anything before this place. */
const nowhere: LogPosition = { log: '', start: 0, stdout: 0, stderr: 0 }

/** Answers a question about a log. `hasEnded`: the replica writes nothing any more. */
export function readLog(log: OpenLog, question: LogQuestion, hasEnded: boolean): LogAnswer {
  const after = question.after === null ? null : (positionOf(question.after) ?? nowhere)
  if (after === null) return readNewest(log, question, hasEnded)
  return readOn(log, question, after.log === log.name ? after : nowhere, hasEnded)
}

/** The newest lines that fit. */
function readNewest(log: OpenLog, question: LogQuestion, hasEnded: boolean): LogAnswer {
  const found = inOrder(streamsOf(question).map((stream) => newestOf(log, stream, question, hasEnded)))
  const kept: DatedPiece[] = []
  let bytes = 0
  for (let at = found.pieces.length - 1; at >= 0 && kept.length < question.tailLines; at--) {
    const piece = found.pieces[at]
    if (piece === undefined) break
    bytes += piece.end - piece.begin
    if (bytes > question.maxBytes && kept.length > 0) break
    kept.unshift(piece)
  }
  const ends = { stdout: log.streams.stdout.end, stderr: log.streams.stderr.end }
  const isTruncated = found.isMore || kept.length < found.pieces.length
  return {
    ...answerOf(log, kept, ends, hasEnded ? 'ENDED' : 'OPEN'),
    starts: startsOf(log.marks),
    truncated: isTruncated,
  }
}

function newestOf(log: OpenLog, stream: LogStream, question: LogQuestion, hasEnded: boolean): Found {
  const source = log.streams[stream]
  const { low, high } = wantedRange(log.marks, stream, question)
  const from = Math.max(low, source.begin)
  const to = Math.min(high, source.end)
  if (to <= from) return { pieces: [], isMore: low < source.begin && low < to }
  const begin = Math.max(from, to - question.maxBytes)
  const breaks = breaksOf(log.marks, stream)
  const bytes = source.read(begin, to)
  const line = firstLine(source, bytes, begin, breaks)
  // A line that is longer than all that may be given is given from its middle on.
  const at = line < bytes.length ? line : characterStart(bytes, 0, Math.min(4, bytes.length - 1))
  const rest = hasEnded && to === source.end ? 'whole' : 'cut'
  const window = { bytes: bytes.subarray(at), from: begin + at, breaks, longest: longestOf(question), rest } as const
  return {
    pieces: dated(log.marks, stream, piecesOf(window)),
    isMore: begin > from || low < source.begin || at > 0,
  }
}

/** Where the first line begins in bytes that begin at `begin`; after them when none does. */
function firstLine(source: StreamFiles, bytes: Buffer, begin: number, breaks: readonly number[]): number {
  if (begin === 0 || breaks.includes(begin)) return 0
  if (begin > source.begin && source.read(begin - 1, begin)[0] === lineBreak) return 0
  return secondLine(bytes, begin, breaks)
}

const longestOf = ({ maxBytes }: LogQuestion) => Math.min(longestPiece, maxBytes)

/** What comes after a position, the oldest first. */
function readOn(log: OpenLog, question: LogQuestion, after: LogPosition, hasEnded: boolean): LogAnswer {
  const places: Record<LogStream, number> = { stdout: after.stdout, stderr: after.stderr }
  let skippedBytes = 0
  const found = inOrder(
    streamsOf(question).map((stream) => {
      const { skipped, from, ...rest } = nextOf(log, stream, after[stream], question, hasEnded)
      skippedBytes += skipped
      places[stream] = from
      return rest
    }),
  )
  const kept: DatedPiece[] = []
  let bytes = 0
  for (const piece of found.pieces) {
    bytes += piece.end - piece.begin
    if (kept.length === bounds.tailLines.max || (bytes > question.maxBytes && kept.length > 0)) break
    kept.push(piece)
    places[piece.stream] = piece.end
  }
  const isAll = !found.isMore && kept.length === found.pieces.length
  const starts = startsOf(log.marks).filter(({ start }) => start > after.start)
  return {
    ...answerOf(log, kept, places, hasEnded && isAll ? 'ENDED' : 'OPEN'),
    starts,
    truncated: !isAll,
    skippedBytes,
  }
}

function nextOf(log: OpenLog, stream: LogStream, place: number, question: LogQuestion, hasEnded: boolean) {
  const source = log.streams[stream]
  const breaks = breaksOf(log.marks, stream)
  const longest = longestOf(question)
  const begin = Math.min(Math.max(place, source.begin), source.end)
  const to = Math.min(source.end, begin + question.maxBytes + longest)
  const bytes = source.read(begin, to)
  // What is left of the line in which the oldest byte that is kept lies cannot be read as a line.
  const at = place < source.begin ? firstLine(source, bytes, begin, breaks) : 0
  const from = begin + at
  const rest = hasEnded && to === source.end ? 'whole' : 'held'
  const window = { bytes: bytes.subarray(at), from, breaks, longest, rest } as const
  const pieces = dated(log.marks, stream, piecesOf(window))
  return { pieces, isMore: to < source.end, skipped: Math.max(0, from - place), from }
}

function streamsOf({ stream }: LogQuestion): readonly LogStream[] {
  return logStreams.filter((one) => stream === null || one === stream.toLowerCase())
}

/** The bytes of a stream that are of the start, and were seen since the instant. */
function wantedRange(marks: readonly LogMark[], stream: LogStream, { start, since }: LogQuestion) {
  let [low, high] = [0, Number.POSITIVE_INFINITY]
  if (start !== null) {
    const at = marks.findIndex((mark) => mark.start === start)
    const next = marks.slice(at + 1).find((mark) => mark.start !== undefined)
    low = marks[at]?.[stream] ?? Number.POSITIVE_INFINITY
    high = next?.[stream] ?? Number.POSITIVE_INFINITY
  }
  if (since !== null) low = Math.max(low, marks.findLast(({ at }) => at < since)?.[stream] ?? 0)
  return { low, high }
}

function breaksOf(marks: readonly LogMark[], stream: LogStream): number[] {
  return marks.flatMap((mark) => (mark.start === undefined ? [] : [mark[stream]]))
}

function dated(marks: readonly LogMark[], stream: LogStream, pieces: readonly Piece[]): DatedPiece[] {
  const reader = new MarkReader(marks, stream)
  return pieces.map((piece) => ({ ...piece, stream, ...reader.dateOf(piece.begin, piece.end) }))
}

/** Both streams in the order in which the worker saw their lines; of one look, standard output comes first. */
function inOrder(found: readonly Found[]): Found {
  const [first, second] = found
  const isMore = found.some((one) => one.isMore)
  if (first === undefined || second === undefined) return { pieces: first?.pieces ?? [], isMore }
  const pieces: DatedPiece[] = []
  let at = 0
  for (const piece of first.pieces) {
    for (let next = second.pieces[at]; next !== undefined && timeOf(next) < timeOf(piece); next = second.pieces[++at])
      pieces.push(next)
    pieces.push(piece)
  }
  return { pieces: [...pieces, ...second.pieces.slice(at)], isMore }
}

/** What no mark says is older than all that one says. */
const timeOf = ({ at }: DatedPiece) => at ?? Number.NEGATIVE_INFINITY

function answerOf(log: OpenLog, pieces: readonly DatedPiece[], places: Places, state: LogState): LogAnswer {
  const start = Math.max(0, ...startsOf(log.marks).map((one) => one.start))
  const position = positionText({ log: log.name, start, stdout: places.stdout, stderr: places.stderr })
  return { state, runs: runsOf(pieces), starts: [], truncated: false, skippedBytes: 0, position }
}

function runsOf(pieces: readonly DatedPiece[]): LogRun[] {
  const runs: (LogRun & { readonly lines: string[] })[] = []
  for (const { stream: name, at, start, text, cut } of pieces) {
    const stream = name === 'stdout' ? 'STDOUT' : 'STDERR'
    const last = runs.at(-1)
    const isSame = last?.stream === stream && last.at === at && last.start === start && !last.cut
    if (isSame && !cut) last.lines.push(text)
    else runs.push({ stream, at, start, lines: [text], cut })
  }
  return runs
}
