/**
 * Reads the command line of a tool that takes `count` words. Returns the words; null when they already say all, because
 * help was printed or they are refused, and then the exit status is set.
 */
export function readWords(usage: string, count: number): string[] | null {
  const words = process.argv.slice(2)
  if (words.some((word) => word === '--help' || word === '-h')) {
    process.stdout.write(`${usage}\n`)
    return null
  }
  const option = words.find((word) => word.startsWith('-'))
  if (option === undefined && words.length === count) return words
  const fault =
    option === undefined
      ? `It takes ${count === 0 ? 'no words' : count === 1 ? 'one word' : `${count} words`}, not ${words.length}.`
      : `${JSON.stringify(option)} is not an option.`
  process.stderr.write(`${fault}\n\n${usage}\n`)
  process.exitCode = 2
  return null
}
