// `npm run simulate -- FILE.yaml` shows what the rules would do, on a clock that does not wait.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import pc from 'picocolors'
import { replay } from './simulation/replayRun.ts'
import { help } from './simulation/scenarioFile/help.ts'
import { printServices, printSpeed, Timeline } from './simulation/scenarioFile/print.ts'
import { readScenario, type ScenarioFileContent, ScenarioMistakes } from './simulation/scenarioFile/readScenario.ts'
import { ScenarioRun } from './simulation/scenarioRun.ts'

/**
 * Returns 0 when it ran, no invariant broke and every expectation was met; 1 when one of these did not hold; 2 when it
 * could not be run.
 */
function main(): number {
  const options = readArguments()
  if (typeof options === 'number') return options
  const content = readContent(options.file, options.seed)
  if (content === null) return 2
  const begun = performance.now()
  const { simulation, begin, timeline } = run(content, options.lines)
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

function run(content: ScenarioFileContent, lines: 'none' | 'some' | 'all') {
  if (content.kind === 'replay') {
    const begin = content.replay.startedAt
    const timeline = new Timeline(begin, lines)
    return { simulation: replay(content.replay, timeline.print), begin, timeline }
  }
  const timeline = new Timeline(0, lines)
  const scenario = new ScenarioRun(content.scenario, timeline.print)
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

/** Returns null after it has printed what is wrong with the file. */
function readContent(file: string, seed: number | null): ScenarioFileContent | null {
  try {
    const content = readScenario(readFileSync(file, 'utf8'))
    return content.kind === 'scenario' && seed !== null
      ? { kind: 'scenario', scenario: { ...content.scenario, seed } }
      : content
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
