import { bounds } from '../../model/bounds.ts'
import { quoted } from '../../model/quoted.ts'
import type { LogAnswer } from '../../model/replicaLog.ts'
import { linesOf } from '../../systems/logs/logLines.ts'
import { builder } from '../kit/builder.ts'
import { badUserInput, requestError } from '../kit/requestErrors.ts'
import { LogLine, LogStart } from './logLine.ts'
import { LogStream } from './replicaEnums.ts'
import { ReplicaReference, refuseBadReplica, requireReplica, shownReplica } from './replicaReference.ts'

/** How many lines are returned when nobody says it. */
export const usualLines = 100

const ReplicaLog = builder.objectRef<LogAnswer>('ReplicaLog').implement({
  description: "Lines of a replica's output, as its worker keeps them.",
  fields: (t) => ({
    lines: t.field({
      type: [LogLine],
      description: 'The lines of both streams in the order in which the worker saw them, oldest first.',
      resolve: linesOf,
    }),
    starts: t.field({
      type: [LogStart],
      description: 'The starts that its worker remembers, oldest first, also those that wrote nothing.',
      resolve: ({ starts }) => [...starts],
    }),
    truncated: t.exposeBoolean('truncated', {
      description: 'Whether there was more than was asked for, or than the worker keeps.',
    }),
    position: t.exposeString('position', {
      description: 'Where the log ends now; logAppended goes on there. Its text means nothing else.',
    }),
  }),
})

builder.queryField('replicaLog', (t) =>
  t.field({
    type: ReplicaLog,
    nullable: true,
    description:
      'The newest lines of the output of a replica, which its worker is asked for now, also after its end until its log is removed. Null when there is no log: it was never started, or its log is removed. The error NOT_FOUND when there is no such replica, and WORKER_UNREACHABLE when its worker does not answer within 5 s.',
    args: {
      replica: t.arg({ type: ReplicaReference, required: true, description: 'The replica.' }),
      start: t.arg.int({ description: 'Only lines of this start; those of all when left out.' }),
      stream: t.arg({ type: LogStream, description: 'Only lines of this stream; those of both when left out.' }),
      since: t.arg({
        type: 'DateTime',
        description: "Only lines that its worker saw at this instant, or later, by the clock of the worker's machine.",
      }),
      tailLines: t.arg.int({
        defaultValue: usualLines,
        description: `The most lines, ${bounds.tailLines.min} to ${bounds.tailLines.max}; the newest are returned. The error BAD_USER_INPUT for any other number.`,
      }),
      maxBytes: t.arg.int({
        defaultValue: bounds.logBytes.default,
        description: `The most bytes of text, ${bounds.logBytes.min} to ${bounds.logBytes.max}; the newest are returned. The error BAD_USER_INPUT for any other number.`,
      }),
    },
    resolve: async (_root, { replica, start, stream, since, tailLines, maxBytes }, { app }) => {
      const question = {
        stream: stream ?? null,
        start: start ?? null,
        since: since?.getTime() ?? null,
        tailLines: within('tailLines', tailLines ?? usualLines, bounds.tailLines),
        maxBytes: within('maxBytes', maxBytes ?? bounds.logBytes.default, bounds.logBytes),
        after: null,
        waitSeconds: 0,
      }
      refuseBadReplica(replica)
      const { replicaId, workerId } = await requireReplica(app, replica, ['replica'])
      if (workerId === null) return null
      const answer = await app.logRequests.ask(workerId, replicaId, question)
      if (answer === null)
        throw requestError(
          'WORKER_UNREACHABLE',
          `The worker of the replica ${quoted(shownReplica(replica))} did not answer within 5 s: its log is on its host, and can be read when that is REACHABLE.`,
        )
      return answer.state === 'NONE' ? null : answer
    },
  }),
)

export function within(name: string, value: number, { min, max }: { readonly min: number; readonly max: number }) {
  if (value < min || value > max) throw badUserInput(`${name} is ${value}: give ${min} to ${max}.`)
  return value
}
