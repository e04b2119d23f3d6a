import type { NewService, ServiceIntent } from '../../src/model/intent.ts'
import type { ReplayedCommit } from '../../src/simulation/scenario.ts'
import { replayText } from '../../src/simulation/scenarioFile/replayFile.ts'
import type { ManualContext } from '../support/fixtures/services.ts'

/** What was told to the rules, so that `npm run simulate` can tell it again. */
export class Recording {
  readonly #commits: ReplayedCommit[] = []
  #service: NewService | null = null
  #startedAt = 0

  begin(service: NewService, { now }: ManualContext): void {
    this.#service = service
    this.#startedAt = now
  }

  commit(intents: readonly ServiceIntent[], { now, given }: ManualContext): void {
    this.#commits.push({ atMillis: now, ids: given, intents })
  }

  /** A scenario file. */
  get text(): string {
    if (this.#service === null) throw new Error('Nothing was recorded.')
    const replay = { service: this.#service, startedAt: this.#startedAt, commits: this.#commits }
    return replayText(replay, 'A history that broke an invariant.')
  }
}

/** Runs a life; what it throws shows the history as a scenario. */
export function recorded<T>(live: (recording: Recording) => T): T {
  const recording = new Recording()
  try {
    return live(recording)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new Error(
      `${message}\n\nSave this as broken.yaml; npm run simulate -- broken.yaml tells it again:\n\n${recording.text}`,
      {
        cause: error,
      },
    )
  }
}
