/**
 * Finds the status in what has arrived of an answer. It reads nothing else and forgives what clients forgive: line feeds
 * alone, blank lines before the answer, any headers. Interim answers (100 to 199, but 101) are passed over, as all
 * clients do. Null: more has to arrive. 'none': this is not HTTP.
 */
export function statusOf(text: string): number | 'none' | null {
  let rest = text
  for (;;) {
    rest = rest.replace(/^[\r\n]+/, '')
    const end = rest.indexOf('\n')
    if (end < 0) return null
    const digits = /^HTTP\/\d+(?:\.\d+)?[ \t]+(\d{3})(?!\d)/i.exec(rest.slice(0, end))?.[1]
    if (digits === undefined) return 'none'
    const status = Number(digits)
    if (status < 100 || status === 101 || status >= 200) return status
    const headers = rest.slice(end)
    const blank = /\n\r?\n/.exec(headers)
    if (blank === null) return null
    rest = headers.slice(blank.index + blank[0].length)
  }
}
