import type { Profile as ProfileRow, ProfileRevision as RevisionRow } from '../../generated/prisma/client.ts'
import { EnvironmentVariable, PortDeclaration, Probe, RestartPolicy, StopPolicy } from '../content/content.ts'
import { Annotation, Label, pairsOf } from '../content/metadata.ts'
import { ServiceDefaults } from '../content/settings.ts'
import { builder } from '../kit/builder.ts'
import { connectionOf } from '../kit/connection/connection.ts'
import type { Listing } from '../kit/connection/listing.ts'
import { orderOf } from '../kit/connection/order.ts'
import { namedArgs, namesFilter, whereArgs } from '../kit/named.ts'
import { rowType } from '../kit/rowType.ts'

const revisions: Listing = {
  name: 'ApplicationProfile.revisions',
  table: 'ProfileRevision',
  parent: 'profileId',
  order: [{ column: 'revision', type: 'int4' }],
  descending: true,
}
export const ProfileRevision = builder.prismaNode('ProfileRevision', {
  id: { field: 'id', description: 'The global id.' },
  nullable: true,
  description: 'One state of an application profile. It never changes, because a change makes the next revision.',
  fields: (t) => ({
    profile: t.field({
      type: rowType('Profile'),
      description: 'The profile.',
      resolve: ({ profileId }, _args, { rows }) => rows.require('Profile', profileId),
    }),
    revision: t.exposeInt('revision', { description: '1, 2, 3 … in its profile.' }),
    command: t.stringList({
      description: 'The program and its arguments; no shell.',
      resolve: (row) => row.content.command,
    }),
    env: t.field({
      type: [EnvironmentVariable],
      description: 'The environment; the system adds XCE_… and PORT, and where they are not set HOME and TMPDIR.',
      resolve: (row) => row.content.env,
    }),
    workingDirectory: t.string({
      nullable: true,
      description:
        "Where the program starts. A relative path begins in the replica's own directory; null means that directory.",
      resolve: (row) => row.content.workingDirectory,
    }),
    ports: t.field({
      type: [PortDeclaration],
      description: 'The ports that each replica needs.',
      resolve: (row) => row.content.ports,
    }),
    cpuMillis: t.int({
      description: 'CPU reserved for each replica, in thousandths of a core.',
      resolve: (row) => row.content.cpuMillis,
    }),
    memoryMiB: t.int({
      description: 'Memory reserved for each replica, in MiB.',
      resolve: (row) => row.content.memoryMiB,
    }),
    startup: t.field({
      type: Probe,
      nullable: true,
      description:
        'The other probes wait until it has succeeded once in a start; a process that fails it is restarted in place. Null: they do not wait.',
      resolve: (row) => row.content.startup,
    }),
    readiness: t.field({
      type: Probe,
      nullable: true,
      description:
        'The readiness probe. Null means that the replica is ready when its startup probe has succeeded or, without one, when its process runs.',
      resolve: (row) => row.content.readiness,
    }),
    liveness: t.field({
      type: Probe,
      nullable: true,
      description: 'The liveness probe: a process that fails it is restarted in place. Null when there is none.',
      resolve: (row) => row.content.liveness,
    }),
    restart: t.field({
      type: RestartPolicy,
      description: 'Restarts in place.',
      resolve: (row) => row.content.restart,
    }),
    stop: t.field({
      type: StopPolicy,
      description: 'How replicas are stopped.',
      resolve: (row) => row.content.stop,
    }),
    serviceDefaults: t.field({
      type: ServiceDefaults,
      description: 'The settings that services of this profile have, unless they have their own.',
      resolve: (row) => row.settings,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was applied.' }),
    createdBy: t.exposeString('createdBy', { description: 'The subject that applied it.' }),
  }),
})

const ProfileRevisionConnection = builder.connectionObject(
  { type: ProfileRevision, name: 'ProfileRevisionConnection', description: 'Revisions of a profile, newest first.' },
  { name: 'ProfileRevisionEdge', description: 'A revision and its position.' },
)

const ApplicationProfile = builder.prismaNode('Profile', {
  name: 'ApplicationProfile',
  id: { field: 'id', description: 'The global id.' },
  nullable: true,
  description: 'The template of services: command, environment, ports, resources, probes, policies and settings.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'A DNS-1123 label of at most 50 characters; unique.' }),
    labels: t.field({
      type: [Label],
      description: 'Its labels, by their keys.',
      resolve: ({ labels }) => pairsOf(labels),
    }),
    annotations: t.field({
      type: [Annotation],
      description: 'Its annotations, by their keys.',
      resolve: ({ annotations }) => pairsOf(annotations),
    }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'A text about it; null when there is none.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When its first revision was applied.' }),
    current: t.field({
      type: ProfileRevision,
      description: 'The newest revision.',
      resolve: ({ id, currentRevision }, _args, { rows }) =>
        rows.requireNumbered('ProfileRevision', id, currentRevision),
    }),
    revisions: t.connection(
      {
        type: ProfileRevision,
        description: 'All revisions, newest first.',
        resolve: (profile, args, context) => connectionOf<RevisionRow>(context, revisions, profile.id, args),
      },
      ProfileRevisionConnection,
    ),
  }),
})

const ApplicationProfileConnection = builder.connectionObject(
  { type: ApplicationProfile, name: 'ApplicationProfileConnection', description: 'Profiles by name.' },
  { name: 'ApplicationProfileEdge', description: 'A profile and its position.' },
)

const filter = namesFilter('ApplicationProfile', 'profiles')
const order = orderOf({
  type: 'ApplicationProfile',
  things: 'profiles',
  choices: {
    NAME: { column: 'name', type: 'text', description: 'The name.' },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz', description: 'The instant of its first revision.' },
  },
  listing: { name: 'Query.profiles', table: 'Profile', parent: null },
})

builder.queryFields((t) => ({
  profile: t.prismaField({
    type: 'Profile',
    nullable: true,
    description: 'The profile that has this name or id; null when there is none.',
    args: namedArgs(t.arg, 'ApplicationProfile'),
    resolve: (query, _root, reference, { app }) => {
      const where = whereArgs('ApplicationProfile', reference)
      return where === null
        ? null
        : app.database.prisma.profile.findFirst({ ...query, where: { ...where, removedAt: null } })
    },
  }),
  profiles: t.connection(
    {
      type: ApplicationProfile,
      description: 'All profiles.',
      args: {
        filter: t.arg({ type: filter.input, description: 'Which ones to return; all when left out.' }),
        orderBy: t.arg({ type: order.input, description: order.description }),
      },
      resolve: (_root, args, context) =>
        connectionOf<ProfileRow>(context, order.listingBy(args.orderBy), null, args, filter.sql(args.filter)),
    },
    ApplicationProfileConnection,
  ),
}))
