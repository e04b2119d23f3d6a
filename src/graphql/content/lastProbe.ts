import type * as Model from '../../model/lastProbe.ts'
import { builder } from '../kit/builder.ts'
import { enumOf } from '../kit/enumOf.ts'

export const ProbeKind = enumOf<Model.ProbeKind>('ProbeKind', 'The probes of a replica.', {
  STARTUP: 'It says whether the program has started. The other probes wait for it.',
  READINESS: 'It says whether the replica is ready, and so whether clients should use its addresses.',
  LIVENESS: 'It says whether the program works. The program is restarted in place when this probe fails.',
})

export const ReplicaProbe = builder.objectRef<Model.LastProbe>('ReplicaProbe').implement({
  description: 'The last result of a probe that the worker reported. Equal results in a row are reported as one.',
  fields: (t) => ({
    kind: t.field({ type: ProbeKind, description: 'The kind of the probe.', resolve: (probe) => probe.kind }),
    ok: t.exposeBoolean('ok', { description: 'Whether it succeeded.' }),
    message: t.exposeString('message', {
      nullable: true,
      description:
        'What is wrong, for example "GET /health on port 20001 answered 503". Of a success: what the worker could not see; mostly null.',
    }),
    count: t.exposeInt('count', {
      description:
        'The number of equal results in a row. A failure that goes on is reported at its 2nd, 4th, 8th … time.',
    }),
    since: t.field({
      type: 'DateTime',
      description: 'The instant of the first of the equal results.',
      resolve: (probe) => probe.since,
    }),
    at: t.field({
      type: 'DateTime',
      description: 'The instant of the last report of it.',
      resolve: (probe) => probe.at,
    }),
  }),
})

export const ReplicaExit = builder.objectRef<Model.LastExit>('ReplicaExit').implement({
  description: 'How a process of a replica ended, or why it could not be started.',
  fields: (t) => ({
    start: t.exposeInt('start', { description: 'The number of the start: 1, 2, 3 ….' }),
    code: t.exposeInt('code', {
      nullable: true,
      description: 'The exit status; null when there is none or it was not seen.',
    }),
    signal: t.exposeString('signal', {
      nullable: true,
      description: 'The signal that ended it, without SIG; null when none did.',
    }),
    at: t.field({
      type: 'DateTime',
      description: 'The instant at which the server heard of it.',
      resolve: (exit) => exit.at,
    }),
    message: t.exposeString('message', {
      nullable: true,
      description: 'A sentence of the worker, for example why it ended the process; null when there is none.',
    }),
  }),
})
