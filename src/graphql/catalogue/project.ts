import type { Project as ProjectRow } from '../../generated/prisma/client.ts'
import { bounds } from '../../model/bounds.ts'
import type { ClusterOutcome } from '../../store/commit/outcome.ts'
import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import { connectionOf } from '../kit/connection/connection.ts'
import { orderOf } from '../kit/connection/order.ts'
import { appliedOf, userMutation } from '../kit/mutation.ts'
import { namedArgs, namesFilter, whereArgs } from '../kit/named.ts'
import { nameField, whole } from '../kit/values.ts'

const Project = builder.prismaNode('Project', {
  id: { field: 'id', description: 'The global id.' },
  nullable: true,
  description: 'The scope of permissions and quota of services. One named default exists.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'A DNS-1123 label of at most 50 characters; unique.' }),
    maxReplicas: t.exposeInt('maxReplicas', {
      nullable: true,
      description: 'The most replicas that may hold quota at once; null when there is no limit.',
    }),
    usedReplicas: t.exposeInt('usedReplicas', {
      description: 'The replicas that hold quota now. A replica holds it from its placement to its confirmed end.',
    }),
  }),
})

const ProjectConnection = builder.connectionObject(
  { type: Project, name: 'ProjectConnection', description: 'Projects by name.' },
  { name: 'ProjectEdge', description: 'A project and its position.' },
)

const filter = namesFilter('Project', 'projects')
const order = orderOf({
  type: 'Project',
  things: 'projects',
  choices: {
    NAME: { column: 'name', type: 'text', description: 'The name.' },
    USED_REPLICAS: { column: 'usedReplicas', type: 'int4', description: 'How many replicas hold quota now.' },
    CREATED_AT: { column: 'createdAt', type: 'timestamptz', description: 'The instant of creation.' },
  },
  listing: { name: 'Query.projects', table: 'Project', parent: null },
})

builder.queryFields((t) => ({
  project: t.prismaField({
    type: 'Project',
    nullable: true,
    description: 'The project that has this name or id; null when there is none.',
    args: namedArgs(t.arg, 'Project'),
    resolve: (query, _root, reference, { app }) => {
      const where = whereArgs('Project', reference)
      return where === null
        ? null
        : app.database.prisma.project.findFirst({ ...query, where: { ...where, removedAt: null } })
    },
  }),
  projects: t.connection(
    {
      type: Project,
      description: 'All projects.',
      args: {
        filter: t.arg({ type: filter.input, description: 'Which ones to return; all when left out.' }),
        orderBy: t.arg({ type: order.input, description: order.description }),
      },
      resolve: (_root, args, context) =>
        connectionOf<ProjectRow>(context, order.listingBy(args.orderBy), null, args, filter.sql(args.filter)),
    },
    ProjectConnection,
  ),
}))

const ApplyProjectPayload = builder
  .objectRef<Extract<ClusterOutcome, { kind: 'project' }>>('ApplyProjectPayload')
  .implement({
    description: 'The project was applied.',
    fields: (t) => ({
      project: t.field({
        type: Project,
        description: 'The project.',
        resolve: ({ projectId }, _args, { rows }) => rows.require('Project', projectId),
      }),
    }),
  })

userMutation({
  name: 'applyProject',
  description: 'Makes a project, or changes its quota.',
  input: {
    description: 'A whole project. Omitted fields get their default.',
    fields: (t) => ({
      name: t.string(nameField),
      maxReplicas: t.int(
        whole(
          bounds.projectReplicas,
          'replicas of a project',
          (range) =>
            `The most replicas that may hold quota at once, ${range}. Null means that there is no limit. A limit below the replicas in use stops none of them.`,
        ),
      ),
    }),
  },
  payload: ApplyProjectPayload,
  errors: [],
  about: ({ name }) => ({ project: name }),
  perform: async ({ name, maxReplicas = null, ...rest }, { app, by, remember }) => {
    noneLeft(rest)
    const change = { kind: 'applyProject', name, maxReplicas, ...by } as const
    return appliedOf('project', await app.committer.write(change, remember(null)))
  },
})
