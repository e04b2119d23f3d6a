import { builder } from '../kit/builder.ts'
import type { Viewer as ViewerValue } from '../kit/context.ts'
import { unauthenticated } from '../kit/requestErrors.ts'

const Viewer = builder.objectRef<ViewerValue>('Viewer').implement({
  description: 'The caller, as its token says.',
  fields: (t) => ({
    subject: t.exposeString('subject', { description: 'The name that is shown as owner, as actor and in logs.' }),
    roles: t.stringList({
      description:
        "The roles: admin may do everything, worker may use only the worker's protocol at /worker, and metrics may read only /metrics.",
      resolve: (viewer) => viewer.roles,
    }),
  }),
})

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    description: 'The caller. Any valid token may ask.',
    skipTypeScopes: true,
    authScopes: { authenticated: true },
    resolve: (_root, _args, { viewer }) => {
      if (viewer === null) throw unauthenticated()
      return viewer
    },
  }),
)
