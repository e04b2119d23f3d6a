import type { ReplicaId } from '../../model/id.ts'

/** The last lines of a replica's output. `truncated` says that there was more than was asked for or kept. */
export interface LogText {
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
  readonly truncated: boolean
}

/** What a worker is asked for. Its answer names the `id`. */
export interface LogRequest {
  readonly id: string
  readonly replica: ReplicaId
  readonly tailLines: number
}
