import { parseArgs } from 'node:util'

const help = `npm run demo [-- --exit]

Shows the main job of XCE Services on real processes, in an empty directory that is removed afterwards: a profile, a service and its endpoint,
a crash, scaling, and rollouts under load.

  --exit      End after the story, with status 0 or 1. Without it the server runs on until Ctrl-C.
  --help, -h  Print this text.
`

/** Reads the demo's command line. Returns the exit status where the words already say all: help, or a fault. */
export function readWords(words: readonly string[]): { readonly exit: boolean } | number {
  try {
    const options = { exit: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h' } } as const
    const { values } = parseArgs({ args: [...words], options })
    if (values.help !== true) return { exit: values.exit }
    process.stdout.write(help)
    return 0
  } catch (error) {
    const [sentence] = (error instanceof Error ? error.message : String(error)).split(/\. |\n/)
    process.stderr.write(`${sentence}: see npm run demo -- --help.\n`)
    return 2
  }
}
