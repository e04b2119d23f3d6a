/** Distinct statements that get a name; what a connection prepares under a name, it keeps. */
const most = 500

/** Names for prepared statements: the same text, the same name. Past the bound a statement stays unnamed and is planned at each run. */
export class StatementNames {
  readonly #names = new Map<string, string>()

  of(sql: string): string {
    const known = this.#names.get(sql)
    if (known !== undefined) return known
    if (this.#names.size >= most) return ''
    const name = `xce${this.#names.size + 1}`
    this.#names.set(sql, name)
    return name
  }
}
