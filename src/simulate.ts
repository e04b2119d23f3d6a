// `npm run simulate -- FILE.yaml` shows what the rules would do, on a virtual clock.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import pc from 'picocolors'
import { replay } from './simulation/replayRun.ts'
import { help } from './simulation/scenarioFile/help.ts'
import { printServices, printSpeed, Timeline } from './simulation/scenarioFile/print.ts'
import { readScenario, ScenarioMistakes, type Told } from './simulation/scenarioFile/readScenario.ts'
import { ScenarioRun } from './simulation/scenarioRun.ts'

/**
 * Returns the exit status: 0 when no invariant was broken and every expectation came true, 1 when one was not, 2 when the
 * file can't be run.
 */
function main(): number {
  const options = readArguments()
  if (typeof options === 'number') return options
  const input = readInput(options.file, options.seed)
  if (input === null) return 2
  const begun = performance.now()
  const { simulation, begin, timeline } = run(input, options.lines)
  const millis = performance.now() - begun
  timeline.end()
  printServices(simulation)
  printSpeed(simulation, begin, millis)
  if (timeline.faults === 0) {
    console.log(pc.green('No invariant was broken, and every expectation came true.'))
    return 0
  }
  console.log(pc.red(`${timeline.faults} mistakes: see the red lines.`))
  return 1
}

function run(input: Told, lines: 'none' | 'some' | 'all') {
  if (input.kind === 'replay') {
    const begin = input.replay.startedAt
    const timeline = new Timeline(begin, lines)
    return { simulation: replay(input.replay, timeline.print), begin, timeline }
  }
  const timeline = new Timeline(0, lines)
  const scenario = new ScenarioRun(input.scenario, timeline.print)
  while (scenario.advance());
  return { simulation: scenario.simulation, begin: 0, timeline }
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        all: { type: 'boolean', default: false },
        quiet: { type: 'boolean', short: 'q', default: false },
        seed: { type: 'string' },
      },
    })
    if (values.help) {
      console.log(help)
      return 0
    }
    const [file, ...more] = positionals
    if (file === undefined || more.length > 0) throw new Error(`Give one scenario file, not ${positionals.length}.`)
    const seed = values.seed === undefined ? null : Number(values.seed)
    if (seed !== null && !(Number.isInteger(seed) && seed >= 0 && seed <= 4_294_967_295)) {
      throw new Error(`--seed ${JSON.stringify(values.seed)} is not a whole number from 0 to 4294967295.`)
    }
    const lines = values.quiet ? ('none' as const) : values.all ? ('all' as const) : ('some' as const)
    return { file, seed, lines }
  } catch (error) {
    console.error(`${messageOf(error)}\nSee npm run simulate -- --help.`)
    return 2
  }
}

/** Returns null after printing what is wrong with the file. */
function readInput(file: string, seed: number | null): Told | null {
  try {
    const input = readScenario(readFileSync(file, 'utf8'))
    return input.kind === 'scenario' && seed !== null
      ? { kind: 'scenario', scenario: { ...input.scenario, seed } }
      : input
  } catch (error) {
    const sentences =
      error instanceof ScenarioMistakes ? error.sentences : [`the file cannot be read: ${messageOf(error)}.`]
    for (const sentence of sentences) console.error(`${file}: ${sentence}`)
    return null
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

process.exitCode = main()
