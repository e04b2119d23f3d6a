import { bounds } from '../../model/bounds.ts'
import { quoted } from '../../model/quoted.ts'
import { positionOf } from '../../model/replicaLog.ts'
import type { LogFrame } from '../../systems/logs/logFollow.ts'
import { LogSource, mostLogReaders } from '../../systems/logs/logReaders.ts'
import { builder } from '../kit/builder.ts'
import { badUserInput, requestError } from '../kit/requestErrors.ts'
import { LogLine, LogStart } from '../replica/logLine.ts'
import { LogStream } from '../replica/replicaEnums.ts'
import { usualLines, within } from '../replica/replicaLog.ts'
import { ReplicaReference, refuseBadReplica, requireReplica } from '../replica/replicaReference.ts'
import { ChangeKind } from './frameFields.ts'

const LogChange = builder.objectRef<LogFrame>('LogChange').implement({
  description:
    'A frame of logAppended. A frame has at most 256 KiB of text and 10,000 lines; where there is more, the next frame has it.',
  fields: (t) => ({
    kind: t.field({
      type: ChangeKind,
      description:
        'SNAPSHOT: the newest lines, as far as they were asked for. DELTA: what was written after the previous frame. GONE: nothing more will come, because the replica has ended and all of its log was sent, or because its log is removed; this ends the subscription.',
      resolve: ({ kind }) => kind,
    }),
    lines: t.field({
      type: [LogLine],
      description:
        'The lines, oldest first. A line comes when its line break does, or when nothing more can follow it.',
      resolve: ({ lines }) => [...lines],
    }),
    starts: t.field({
      type: [LogStart],
      description: 'The starts of the replica that began since the previous frame; a SNAPSHOT has all that are known.',
      resolve: ({ starts }) => [...starts],
    }),
    skippedBytes: t.float({
      description:
        'How many bytes before these lines are missing, because the reader was too slow or away and the worker does not keep them any more; 0 when none are.',
      resolve: ({ skippedBytes }) => skippedBytes,
    }),
    position: t.string({
      nullable: true,
      description: 'Give it as `after` to go on behind this frame, at any server. Null when there was no log.',
      resolve: ({ position }) => position,
    }),
  }),
})

builder.subscriptionField('logAppended', (t) =>
  t.field({
    type: LogChange,
    description: `Follows the output of a replica, over its restarts in place and those of its worker: a SNAPSHOT with the newest lines first, then a DELTA for what is written, at most ten a second. A replica that has no log yet, or whose worker is away, is waited for. The error NOT_FOUND when there is no such replica, and TOO_MANY_READERS when ${mostLogReaders} callers follow logs on this server.`,
    args: {
      replica: t.arg({ type: ReplicaReference, required: true, description: 'The replica.' }),
      stream: t.arg({ type: LogStream, description: 'Only lines of this stream; those of both when left out.' }),
      tailLines: t.arg.int({
        defaultValue: usualLines,
        description: `The most lines of the SNAPSHOT, ${bounds.tailLines.min} to ${bounds.tailLines.max}. The error BAD_USER_INPUT for any other number.`,
      }),
      after: t.arg.string({
        description:
          'The position of the last frame that you have, or of replicaLog. The first frame is then a DELTA with what was written after it. The error BAD_USER_INPUT when it is not a position.',
      }),
    },
    subscribe: async (_root, { replica, stream, tailLines, after }, { app }) => {
      const lines = within('tailLines', tailLines ?? usualLines, bounds.tailLines)
      if (after != null && positionOf(after) === null)
        throw badUserInput(`after is ${quoted(after)}: give the position of a frame or of replicaLog.`)
      refuseBadReplica(replica)
      const { replicaId, serviceId } = await requireReplica(app, replica, ['replica'])
      if (app.logReaders.count >= mostLogReaders)
        throw requestError(
          'TOO_MANY_READERS',
          `${mostLogReaders} callers follow logs on this server already: end some of these subscriptions, or use another server.`,
        )
      const wish = {
        replica: replicaId,
        service: serviceId,
        stream: stream ?? null,
        after: after ?? null,
        tailLines: lines,
      }
      return new LogSource(app.logReaders, wish)
    },
    resolve: (frame) => frame,
  }),
)
