/** An entry of a header such as Accept, in lower case, and its weight from 0 (never) to 1. */
interface Entry {
  readonly value: string
  readonly weight: number
}

/** Whether a header such as Accept or Accept-Encoding names a value, and does not exclude it by `q=0`. */
export function isNamed(header: string | undefined, value: string): boolean {
  return entriesOf(header).some((entry) => entry.value === value && entry.weight > 0)
}

/** Those of the media types on offer that the header Accept takes, the most wanted first. Without the header it takes all. */
export function acceptedTypes(header: string | undefined, offered: readonly string[]): readonly string[] {
  const entries = entriesOf(header ?? '*/*')
  return offered
    .flatMap((type) => {
      // The most precise entry decides, wherever it stands: "application/json;q=0, */*" takes everything but JSON.
      const ranges = [type, `${type.split('/', 1)[0]}/*`, '*/*']
      const position = ranges.map((range) => entries.findIndex(({ value }) => value === range)).find((at) => at >= 0)
      const weight = position === undefined ? 0 : (entries[position]?.weight ?? 0)
      return position !== undefined && weight > 0 ? [{ type, weight, position }] : []
    })
    .toSorted((a, b) => b.weight - a.weight || a.position - b.position)
    .map(({ type }) => type)
}

function entriesOf(header: string | undefined): readonly Entry[] {
  return (header ?? '').split(',').flatMap((text) => {
    const [value = '', ...parameters] = text
      .toLowerCase()
      .split(';')
      .map((part) => part.trim())
    const parameterOf = (name: string) => parameters.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1)
    // All that the server writes is UTF-8.
    if (value === '' || !isUtf8(parameterOf('charset'))) return []
    const weight = Number(parameterOf('q') ?? 1)
    return [{ value, weight: Number.isNaN(weight) ? 1 : weight }]
  })
}

/** Whether a `charset` of a header is UTF-8, which it is where there is none. */
export function isUtf8(charset: string | undefined): boolean {
  return charset === undefined || /^"?utf-?8"?$/i.test(charset)
}
