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
      description: 'The whole table at the revision; on GONE it is empty.',
      resolve: ({ addresses, serviceId, revision }) => ({ serviceId, revision, addresses }),
    }),
    added: t.field({
      type: [EndpointAddress],
      description: 'Addresses new to the view, or changed in it; on a SNAPSHOT all of them.',
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
      'Follows the endpoint of a service: a SNAPSHOT first, then a DELTA for every change that the view shows. No such service: the error NOT_FOUND; deleted later: GONE, and the subscription ends.',
    args: {
      ...serviceArgs,
      port: t.arg.string({ description: 'Only addresses of the port with this name.' }),
      includeNotReady: t.arg.boolean({
        defaultValue: false,
        description: 'Also addresses of replicas that are not ready.',
      }),
      ...frameArgs,
    },
    subscribe: (_root, { project, service, port, includeNotReady, ...wishes }, context) => {
      const view = { port: port ?? null, includeNotReady: includeNotReady ?? false }
      return followService(context, { project, name: service }, wishes, 'endpoint', (id) => endpointFrames(id, view))
    },
    resolve: (frame) => frame,
  }),
)
