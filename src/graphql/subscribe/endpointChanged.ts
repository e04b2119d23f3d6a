import { type EndpointFrame, endpointFrames } from '../../feed/frames/endpointFrames.ts'
import { Endpoint, EndpointAddress } from '../endpoint/endpoint.ts'
import { builder } from '../kit/builder.ts'
import { frameFields } from './frameFields.ts'
import { followService, frameArgs, serviceArgs } from './sources.ts'

const EndpointChange = builder.objectRef<EndpointFrame>('EndpointChange').implement({
  description:
    'A frame of endpointChanged, exact at its revision. It covers every change after the previous frame: drop `removed`, then set `added` by id, and the table is right.',
  fields: (t) => ({
    ...frameFields(t),
    endpoint: t.field({
      type: Endpoint,
      description:
        "The table at the revision; on GONE it is empty. Its addresses are those of the subscription's port, and those that are not ready when the subscription includes them, unless their own arguments say otherwise.",
      resolve: ({ addresses, serviceId, revision, view }) => ({ serviceId, revision, addresses, view }),
    }),
    added: t.field({
      type: [EndpointAddress],
      description: 'Addresses that are new to the view or changed in it. A SNAPSHOT has all of them.',
      resolve: (frame) => frame.added,
    }),
    removed: t.field({
      type: [EndpointAddress],
      description: 'Addresses that left the view, as they last were in it.',
      resolve: (frame) => frame.removed,
    }),
  }),
})

builder.subscriptionField('endpointChanged', (t) =>
  t.field({
    type: EndpointChange,
    description:
      'Follows the endpoint of a service: a SNAPSHOT first, then a DELTA for every change that the view shows. The error NOT_FOUND when there is no such service. When it is deleted later, a frame GONE ends the subscription.',
    args: {
      ...serviceArgs,
      port: t.arg.string({ description: 'Send only addresses of the port with this name.' }),
      includeNotReady: t.arg.boolean({
        defaultValue: false,
        description: 'Also send addresses of replicas that are not ready.',
      }),
      ...frameArgs,
    },
    subscribe: (_root, { service, port, includeNotReady, ...wishes }, context) => {
      const view = { port: port ?? null, includeNotReady: includeNotReady ?? false }
      return followService(context, service, wishes, 'endpoint', (id) => endpointFrames(id, view))
    },
    resolve: (frame) => frame,
  }),
)
