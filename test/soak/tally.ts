/** What a soak did, by name. */
export class Tally {
  readonly operations = new Map<string, Map<string, number>>()
  readonly kills = new Map<string, number>()
  readonly ends = new Map<string, number>()
  readonly hosts = new Map<string, number>()
  /** Answers that never came (the server died or froze, or the database was away): asked again with the same idempotencyKey. */
  unanswered = 0
  frames = 0
  reconnects = 0
  /** Mutations that were acknowledged and are not in the database. */
  lost = 0
  /** Invariants broken, subscribers deceived and what else must not be, as sentences. */
  readonly faults: string[] = []

  operation(kind: string, answer: string): void {
    const answers = this.operations.get(kind) ?? new Map<string, number>()
    this.operations.set(kind, answers)
    count(answers, answer)
  }

  kill(what: string): void {
    count(this.kills, what)
  }

  fault(sentence: string): void {
    this.faults.push(sentence)
  }

  get done(): number {
    return [...this.operations.values()].reduce((sum, answers) => sum + total(answers), 0)
  }

  get acknowledged(): number {
    return [...this.operations.values()].reduce((sum, answers) => sum + (answers.get(acknowledged) ?? 0), 0)
  }
}

/** The answer that counts as done. */
export const acknowledged = 'done'

export function count(counts: Map<string, number>, name: string, by = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + by)
}

export function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, number) => sum + number, 0)
}

/** `3 a, 1 b`, the most first. */
export function listed(counts: ReadonlyMap<string, number>): string {
  const entries = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
  return entries.length === 0 ? 'none' : entries.map(([name, number]) => `${number} ${name}`).join(', ')
}
