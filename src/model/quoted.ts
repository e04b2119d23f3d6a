/** Quotes a user's text for a message: cut to 80 characters, and with hidden characters written out. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
