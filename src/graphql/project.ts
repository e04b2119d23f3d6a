import type { Project as ProjectRow } from '../generated/prisma/client.ts'
import { builder } from './builder.ts'
import { connectionOf } from './connection/connection.ts'
import type { Listing } from './connection/listing.ts'
import { storable } from './text.ts'

const projects: Listing = {
  name: 'Query.projects',
  table: 'Project',
  parent: null,
  order: [{ column: 'name', type: 'text' }],
  descending: false,
}

const Project = builder.prismaNode('Project', {
  id: { field: 'id', description: 'The global id.' },
  nullable: true,
  description: 'The scope of permissions and quota of services. One named default exists.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'A DNS-1123 label of at most 50 characters; unique.' }),
    maxReplicas: t.exposeInt('maxReplicas', {
      nullable: true,
      description: 'The most replicas that may hold quota at once; null: no limit.',
    }),
    usedReplicas: t.exposeInt('usedReplicas', {
      description: 'Replicas that hold quota now: from their placement to their confirmed end (R17).',
    }),
  }),
})

const ProjectConnection = builder.connectionObject(
  { type: Project, name: 'ProjectConnection', description: 'Projects by name.' },
  { name: 'ProjectEdge', description: 'A project and its position.' },
)

builder.queryFields((t) => ({
  project: t.prismaField({
    type: 'Project',
    nullable: true,
    description: 'The project of this name; null when there is none.',
    args: { name: t.arg.string({ required: true, description: "The project's name." }) },
    resolve: (query, _root, { name }, { app }) =>
      storable(name) ? app.database.prisma.project.findUnique({ ...query, where: { name } }) : null,
  }),
  projects: t.connection(
    {
      type: Project,
      description: 'All projects by name.',
      resolve: (_root, args, context) => connectionOf<ProjectRow>(context, projects, null, args),
    },
    ProjectConnection,
  ),
}))
