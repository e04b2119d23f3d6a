/** How much of a worker's message a sentence takes over. */
const mostCharacters = 300

/** Makes a worker's sentence a part of another one: without its full stop, not in upper case, and cut. */
export function clauseOf(sentence: string): string {
  const part = sentence.replace(/[.\s]+$/, '')
  const cut = part.length > mostCharacters ? `${part.slice(0, mostCharacters).replace(/\p{Cs}$/u, '')}…` : part
  return cut.replace(/^[A-Z](?=[a-z]* )/, (letter) => letter.toLowerCase())
}
