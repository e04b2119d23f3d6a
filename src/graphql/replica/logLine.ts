import type { LogStart as LogStartValue } from '../../model/replicaLog.ts'
import type { LogLine as LogLineValue } from '../../systems/logs/logLines.ts'
import { builder } from '../kit/builder.ts'
import { LogStream } from './replicaEnums.ts'

export const LogLine = builder.objectRef<LogLineValue>('LogLine').implement({
  description: "One line of a replica's output. A line of more than 64 KiB is given in parts.",
  fields: (t) => ({
    stream: t.field({ type: LogStream, description: 'The stream.', resolve: ({ stream }) => stream }),
    at: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        "When its worker saw it, by the clock of the worker's machine. The worker looks within 2 s after a write, and at once while somebody follows the log. Null: that is not known any more.",
      resolve: ({ at }) => at,
    }),
    start: t.exposeInt('start', {
      nullable: true,
      description: 'The start of the replica that wrote it. Null: that is not known any more.',
    }),
    text: t.exposeString('text', {
      description: 'The line, without its line break. What is no UTF-8 in it is shown as U+FFFD.',
    }),
    cut: t.exposeBoolean('cut', {
      description: 'Whether the line goes on: its line break was not there yet, or the next line is its next part.',
    }),
  }),
})

export const LogStart = builder.objectRef<LogStartValue>('LogStart').implement({
  description: 'A start of a replica, in place or on another host, that its worker remembers.',
  fields: (t) => ({
    start: t.exposeInt('start', { description: 'Its number.' }),
    at: t.field({
      type: 'DateTime',
      description: "When it began, by the clock of the worker's machine.",
      resolve: ({ at }) => at,
    }),
  }),
})
