import type * as Model from '../../model/lastProbe.ts'
import { builder } from '../kit/builder.ts'
import { enumOf } from '../kit/enumOf.ts'

export const ProbeKind = enumOf<Model.ProbeKind>('ProbeKind', 'The probes of a replica.', {
  STARTUP: 'Whether it has started: the others wait for it.',
  READINESS: 'Whether it is in the endpoint.',
  LIVENESS: 'Whether it is well: it is restarted in place when this fails.',
})

export const ReplicaProbe = builder.objectRef<Model.LastProbe>('ReplicaProbe').implement({
  description: 'The last result of a probe that its worker told; equal results in a row are one.',
  fields: (t) => ({
    kind: t.field({ type: ProbeKind, description: 'Which probe.', resolve: (probe) => probe.kind }),
    ok: t.exposeBoolean('ok', { description: 'Whether it succeeded.' }),
    message: t.exposeString('message', {
      nullable: true,
      description: 'What is wrong, for example "GET /health on port 20001 answered 503"; null when nothing is.',
    }),
    count: t.exposeInt('count', {
      description:
        'How many equal results in a row were told. A failure that goes on is told at its 2nd, 4th, 8th … time.',
    }),
    since: t.field({
      type: 'DateTime',
      description: 'When the first of the equal results was.',
      resolve: (probe) => probe.since,
    }),
    at: t.field({ type: 'DateTime', description: 'When its worker told it last.', resolve: (probe) => probe.at }),
  }),
})

export const ReplicaExit = builder.objectRef<Model.LastExit>('ReplicaExit').implement({
  description: 'How a process of a replica ended, or why it could not be started.',
  fields: (t) => ({
    start: t.exposeInt('start', { description: 'Which start it was: 1, 2, 3 ….' }),
    code: t.exposeInt('code', {
      nullable: true,
      description: 'The exit status; null where there is none or it was not seen.',
    }),
    signal: t.exposeString('signal', {
      nullable: true,
      description: 'The signal that ended it, without SIG; null when none did.',
    }),
    at: t.field({ type: 'DateTime', description: 'When the server heard of it.', resolve: (exit) => exit.at }),
    message: t.exposeString('message', {
      nullable: true,
      description: 'A sentence of the worker, for example why it ended the process; null where it has none.',
    }),
  }),
})
