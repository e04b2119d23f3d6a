import { bounds } from '../../model/bounds.ts'
import { type EndpointAddress as Address, type EndpointView, inView } from '../../model/endpoint.ts'
import type { Revision, ServiceId } from '../../model/id.ts'
import { withoutNulls } from '../../model/withoutNulls.ts'
import type { Database } from '../../store/database/database.ts'
import { readEndpoints } from '../../store/read/readEndpoint.ts'
import { PortProtocol } from '../content/content.ts'
import { builder } from '../kit/builder.ts'
import { encodeGlobalId } from '../kit/globalId.ts'
import { findService } from '../kit/lookup.ts'
import { refuseFaults } from '../kit/reference.ts'
import { present } from '../kit/rowLoaders.ts'
import { rowType } from '../kit/rowType.ts'
import { ServiceReference, serviceFaults } from '../kit/serviceReference.ts'

/** A service's whole table, exact at its revision. Its id is the service's. */
export interface EndpointTable {
  readonly serviceId: ServiceId
  readonly revision: Revision
  readonly addresses: readonly Address[]
  /** What a subscription shows of the table, where its arguments do not say otherwise. */
  readonly view?: EndpointView
}

const wholeView: EndpointView = { port: null, includeNotReady: false }

export const EndpointAddress = builder.objectRef<Address>('EndpointAddress').implement({
  description: 'The address of one port of one replica.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description:
        'The replica, port name and start of the process. It stays the same as long as that process listens there.',
    }),
    replicaId: t.id({
      description: "The replica's global id. It is given also when the replica is no longer kept.",
      resolve: (address) => encodeGlobalId('Replica', address.replicaId),
    }),
    replica: t.field({
      type: rowType('Replica'),
      nullable: true,
      description: 'The replica, read now; null when it is no longer kept.',
      resolve: ({ replicaId }, _args, { rows }) => rows.load('Replica', replicaId),
    }),
    index: t.exposeInt('index', { description: "The replica's index." }),
    start: t.exposeInt('start', { description: "The number of the present start of the replica's process: 1, 2, 3 …" }),
    host: t.exposeString('host', { description: "The host's name." }),
    address: t.exposeString('address', { description: "The host's primary address." }),
    addresses: t.stringList({
      description: 'All addresses of the host (dual stack), the primary one first.',
      resolve: (address) => address.addresses,
    }),
    port: t.exposeInt('port', { description: `The port's number, ${bounds.port.min} to ${bounds.port.max}.` }),
    protocol: t.field({ type: PortProtocol, description: 'TCP or UDP.', resolve: (address) => address.protocol }),
    portName: t.exposeString('portName', { description: "The port's name in the profile." }),
    hostPort: t.string({
      description: 'address:port, an IPv6 address in brackets.',
      resolve: ({ address, port }) => `${address.includes(':') ? `[${address}]` : address}:${port}`,
    }),
    ready: t.exposeBoolean('ready', {
      description: 'Whether clients should use it: the replica is ready and not stopping.',
    }),
    serving: t.exposeBoolean('serving', {
      description: 'Whether it still answers: the replica is ready, or is stopping and was ready.',
    }),
    terminating: t.exposeBoolean('terminating', { description: 'Whether its replica is stopping.' }),
  }),
})

export const Endpoint = builder.loadableNodeRef('Endpoint', {
  id: { resolve: (table: EndpointTable) => table.serviceId, description: 'The global id.' },
  loaderOptions: { cache: false },
  load: async (ids: string[], { app }): Promise<(EndpointTable | null)[]> =>
    (await tablesOf(app.database, ids)).map((table) => (table === null || table.isGone ? null : table)),
})
Endpoint.implement({
  description:
    "The addresses of a service's replicas. Subscribe with endpointChanged instead of asking again and again.",
  fields: (t) => ({
    service: t.field({
      type: rowType('Service'),
      description: 'The service, read now.',
      resolve: ({ serviceId }, _args, { rows }) => rows.require('Service', serviceId),
    }),
    revision: t.expose('revision', {
      type: 'Revision',
      description: 'The position in the fact log at which the table is exact.',
    }),
    addresses: t.field({
      type: [EndpointAddress],
      description: 'The addresses, in the order of index and port name.',
      args: {
        port: t.arg.string({
          description:
            'Return only addresses of the port with this name. When left out: as in endpointChanged, elsewhere of all ports.',
        }),
        includeNotReady: t.arg.boolean({
          description:
            'Also return addresses that are not ready, of replicas whose process runs but is not ready or is stopping. When left out: as in endpointChanged, elsewhere false.',
        }),
      },
      resolve: ({ addresses, view = wholeView }, args) => {
        const { port, includeNotReady } = { ...view, ...withoutNulls(args) }
        return addresses.filter((address) => inView(address, { port, includeNotReady }))
      },
    }),
  }),
})

/** The tables of services that their callers have read already: of one that has been deleted since then the table is empty. */
export async function tablesOfServices(database: Database, ids: readonly string[]): Promise<EndpointTable[]> {
  return (await tablesOf(database, ids)).map((table) => present('Service', table))
}

async function tablesOf(database: Database, ids: readonly string[]) {
  const tables = await readEndpoints(database, ids as readonly ServiceId[])
  return ids.map((id) => {
    const serviceId = id as ServiceId
    const table = tables.get(serviceId)
    return table === undefined ? null : { serviceId, ...table }
  })
}

builder.queryField('endpoint', (t) =>
  t.field({
    type: Endpoint,
    nullable: true,
    description: 'The endpoint of a service; null when there is no such service.',
    args: { service: t.arg({ type: ServiceReference, required: true, description: 'The service.' }) },
    resolve: async (_root, { service }, { app }) => {
      refuseFaults('service', serviceFaults(service))
      return await findService(app.database.prisma, service)
    },
  }),
)
