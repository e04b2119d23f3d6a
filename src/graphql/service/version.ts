import type { VersionOrigin as Origin } from '../../generated/prisma/enums.ts'
import { EnvironmentVariable, PortDeclaration, ServiceOverrides } from '../content/content.ts'
import { builder } from '../kit/builder.ts'
import { enumOf } from '../kit/enumOf.ts'
import { rowType } from '../kit/rowType.ts'

const VersionOrigin = enumOf<Origin>('VersionOrigin', 'What made a version.', {
  CREATE: 'The creation of the service.',
  UPDATE: 'An update.',
  ROLLBACK: 'A rollback that a user asked for.',
  AUTO_ROLLBACK: 'A rollback by the setting autoRollback.',
  RESTART: 'A restart, which keeps the content.',
})

export const ServiceVersion = builder.prismaNode('ServiceVersion', {
  id: { field: 'id', description: 'The global id.' },
  nullable: true,
  description: "What a service runs: a profile's revision merged with what the service has of its own.",
  fields: (t) => ({
    service: t.field({
      type: rowType('Service'),
      description: 'The service.',
      resolve: ({ serviceId }, _args, { rows }) => rows.require('Service', serviceId),
    }),
    number: t.exposeInt('number', { description: '1, 2, 3 … in its service.' }),
    profileRevision: t.field({
      type: rowType('ProfileRevision'),
      description: "The profile's revision that it was made from.",
      resolve: ({ profileRevisionId }, _args, { rows }) => rows.require('ProfileRevision', profileRevisionId),
    }),
    command: t.stringList({
      description: 'The program and its arguments; no shell.',
      resolve: (version) => version.content.command,
    }),
    env: t.field({
      type: [EnvironmentVariable],
      description: "The environment: the profile's and the service's own.",
      resolve: (version) => version.content.env,
    }),
    overrides: t.field({
      type: ServiceOverrides,
      description: "The service's own part in this version, without the profile's.",
      resolve: (version) => version.overrides,
    }),
    ports: t.field({
      type: [PortDeclaration],
      description: 'The ports that each replica needs.',
      resolve: (version) => version.content.ports,
    }),
    sameContentAs: t.int({
      nullable: true,
      description:
        'The lowest earlier version number with equal content, whose replicas this version does not replace. Null when there is none.',
      resolve: (version) => (version.contentNumber === version.number ? null : version.contentNumber),
    }),
    origin: t.field({
      type: VersionOrigin,
      description: 'What made this version.',
      resolve: (version) => version.origin,
    }),
    cause: t.exposeString('cause', {
      nullable: true,
      description: 'Why the user who made it wanted it, as the mutation said; null when it did not say.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    createdBy: t.exposeString('createdBy', { description: 'The subject that made it; "xce" when the rules did.' }),
  }),
})

export const ServiceVersionConnection = builder.connectionObject(
  { type: ServiceVersion, name: 'ServiceVersionConnection', description: 'Versions of a service, newest first.' },
  { name: 'ServiceVersionEdge', description: 'A version and its position.' },
)
