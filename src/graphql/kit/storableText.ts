/**
 * PostgreSQL's text holds every character except NUL and half of one (a lone surrogate). Nothing with such a name can
 * be stored, so nothing is found.
 */
export function storable(text: string): boolean {
  return !/[\0\p{Cs}]/u.test(text)
}
