import { builder } from '../kit/builder.ts'
import type { Viewer as ViewerValue } from '../kit/context.ts'
import { unauthenticated } from '../kit/requestErrors.ts'

const Viewer = builder.objectRef<ViewerValue>('Viewer').implement({
  description: 'Who asks, as the token says.',
  fields: (t) => ({
    subject: t.exposeString('subject', { description: 'The name that owners, actors and logs show.' }),
    roles: t.stringList({
      description: 'admin: everything. worker: the protocol of workers only. metrics: /metrics only.',
      resolve: (viewer) => viewer.roles,
    }),
  }),
})

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    description: 'Who asks. Any valid token may.',
    skipTypeScopes: true,
    authScopes: { authenticated: true },
    resolve: (_root, _args, { viewer }) => {
      if (viewer === null) throw unauthenticated()
      return viewer
    },
  }),
)
