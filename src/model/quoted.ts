/** A text that somebody wrote, in a message: quoted, cut, and without characters that hide. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
