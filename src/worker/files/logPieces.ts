/** A line, or a part of one, with its place in the stream. */
export interface Piece {
  readonly begin: number
  readonly end: number
  readonly text: string
  /** Whether the line goes on, as far as can be seen here. */
  readonly cut: boolean
}

export interface Window {
  readonly bytes: Buffer
  /** The place of the first byte in the stream. */
  readonly from: number
  /** Where starts began: no line goes on from one start to the next. */
  readonly breaks: readonly number[]
  /** The longest piece, in bytes. */
  readonly longest: number
  /**
   * What comes at the end without a line break is held back until its line break comes, or is given as a line that goes
   * on, or as a whole line because nothing follows it.
   */
  readonly rest: 'held' | 'cut' | 'whole'
}

/** Cuts a window of a stream into lines. A line that is too long is given in parts, which never end inside a character. */
export function piecesOf({ bytes, from, breaks, longest, rest }: Window): Piece[] {
  const pieces: Piece[] = []
  for (let at = 0; at < bytes.length; ) {
    const { end, isWhole } = lineEnd(bytes, from, at, breaks)
    const isLong = end - at > longest
    if (!isLong && !isWhole && rest === 'held') break
    const next = isLong ? characterStart(bytes, at, at + longest) : end
    const hasBreak = !isLong && bytes[next - 1] === lineBreak
    const text = bytes.toString('utf8', at, hasBreak ? next - 1 : next)
    pieces.push({ begin: from + at, end: from + next, text, cut: isLong || (!isWhole && rest === 'cut') })
    at = next
  }
  return pieces
}

/** The place in `bytes` at which the line that begins after the first one begins; their end when there is none. */
export function secondLine(bytes: Buffer, from: number, breaks: readonly number[]): number {
  return lineEnd(bytes, from, 0, breaks).end
}

export const lineBreak = 10

function lineEnd(bytes: Buffer, from: number, at: number, breaks: readonly number[]) {
  const found = bytes.indexOf(lineBreak, at)
  const byBreak = found === -1 ? Number.POSITIVE_INFINITY : found + 1
  const byStart = breaks.find((place) => place - from > at) ?? Number.POSITIVE_INFINITY
  const end = Math.min(byBreak, byStart - from)
  return end > bytes.length ? { end: bytes.length, isWhole: false } : { end, isWhole: true }
}

/** The place of the last character that begins at `end` or up to three bytes before it; `end` where the bytes are no UTF-8. */
export function characterStart(bytes: Buffer, begin: number, end: number): number {
  for (let at = end; at > begin && at > end - 4; at--) if (!isInside(bytes[at])) return at
  return end
}

function isInside(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
