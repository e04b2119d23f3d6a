import { LineCounter, parseDocument } from 'yaml'
import type { Replay, Scenario } from '../scenario.ts'
import { replayOf } from './replayFile.ts'
import { scenarioOf } from './scenarioOf.ts'
import { scenarioSchema } from './scenarioSchema.ts'
import { pathText, sentenceOf } from './sentence.ts'

export type ScenarioFileContent =
  | { readonly kind: 'scenario'; readonly scenario: Scenario }
  | { readonly kind: 'replay'; readonly replay: Replay }

/** A scenario file cannot be run. It has one sentence for every mistake in it. */
export class ScenarioMistakes extends Error {
  readonly sentences: readonly string[]

  constructor(sentences: readonly string[]) {
    super(sentences.join('\n'))
    this.sentences = sentences
  }
}

/** Reads what a scenario file describes. Throws ScenarioMistakes. */
export function readScenario(text: string): ScenarioFileContent {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  if (document.errors.length > 0) {
    throw new ScenarioMistakes(
      document.errors.map((error) => {
        const { line, col } = lines.linePos(error.pos[0])
        return `line ${line}, column ${col}: this is not YAML: ${error.message.trim()}`
      }),
    )
  }
  const file: unknown = document.toJS()
  if (typeof file === 'object' && file !== null && 'replay' in file)
    return { kind: 'replay', replay: replayIn(file.replay) }
  const parsed = scenarioSchema.safeParse(file, { error: sentenceOf })
  if (!parsed.success)
    throw new ScenarioMistakes(parsed.error.issues.map(({ path, message }) => withPath(path, message)))
  const described = scenarioOf(parsed.data)
  if ('mistakes' in described)
    throw new ScenarioMistakes(described.mistakes.map(({ path, message }) => withPath(path, message)))
  return { kind: 'scenario', scenario: described.scenario }
}

function replayIn(value: unknown): Replay {
  try {
    return replayOf(value)
  } catch (error) {
    throw new ScenarioMistakes([error instanceof Error ? error.message : String(error)])
  }
}

function withPath(path: readonly PropertyKey[], message: string): string {
  return path.length === 0 ? message : `${pathText(path)}: ${message}`
}
