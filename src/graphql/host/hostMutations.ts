import type { HostScheduling } from '../../generated/prisma/enums.ts'
import type { HostId } from '../../model/id.ts'
import type { RefusalCode } from '../../model/refusal.ts'
import { notFound, type OperatorChange } from '../../rules/hosts/hostByOperator.ts'
import { tellServices } from '../../systems/workers/tellServices.ts'
import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import { appliedOf, type Call, titleOf, userMutation } from '../kit/mutation.ts'
import type { Reference } from '../kit/reference.ts'
import { errorOf } from '../kit/refusalError.ts'
import { rowType } from '../kit/rowType.ts'
import { HostReference, nameOf, shownReference, WorkerReference } from './hostReference.ts'

// What operators decide about hosts (R15). Each decision is one write, and then one commit of every service that has
// replicas there.

interface HostMutation {
  readonly name: string
  readonly description: string
  /** The description of the payload. */
  readonly done: string
  readonly errors: readonly RefusalCode[]
  readonly change: (name: string, actor: string) => OperatorChange
}

function hostMutation({ name, description, done, errors, change }: HostMutation): void {
  userMutation({
    name,
    description,
    input: {
      description: 'The host to act on.',
      fields: (t) => ({
        host: t.field({
          type: HostReference,
          required: true,
          description: 'The host. NotFoundError when there is none that has this id or name.',
        }),
      }),
    },
    payload: payloadOf(name, done),
    errors: ['NOT_FOUND', ...errors],
    about: ({ host }) => ({ host: shownReference(host) }),
    perform: ({ host, ...rest }, call) => {
      noneLeft(rest)
      return perform('Host', host, (known) => ({ ...change(known, call.by.actor), why: call.by.why }), call)
    },
  })
}

function payloadOf(mutation: string, done: string) {
  return builder.objectRef<{ readonly hostId: HostId }>(`${titleOf(mutation)}Payload`).implement({
    description: done,
    fields: (t) => ({
      host: t.field({
        type: rowType('Host'),
        description: 'The host, read after the change.',
        resolve: ({ hostId }, _args, { rows }) => rows.require('Host', hostId),
      }),
    }),
  })
}

async function perform(
  type: 'Host' | 'Worker',
  reference: Reference,
  changeOf: (name: string) => OperatorChange,
  { app, remember }: Call,
): Promise<{ readonly hostId: HostId }> {
  const name = await nameOf(app.database.prisma, type, reference)
  if (name === null) throw errorOf(notFound(changeOf(shownReference(reference))))
  const change = changeOf(name)
  const { hostId } = appliedOf('host', await app.committer.write(change, remember(null)))
  // The change is done. Services that could not be told now are told a little later by the leases of workers.
  await tellServices(app, [hostId]).catch((error: unknown) =>
    app.log.warn({ err: error, hostId }, 'Services were not told of their host.'),
  )
  return { hostId }
}

const schedule = (scheduling: HostScheduling) => (name: string, actor: string) =>
  ({ kind: 'scheduleHost', name, scheduling, actor }) as const

hostMutation({
  name: 'cordonHost',
  description:
    'Lets a host take no new replicas. Those that it has stay, and a drain of it ends. NoChangeError when it is cordoned already.',
  done: 'The host is cordoned.',
  errors: ['NO_CHANGE'],
  change: schedule('CORDONED'),
})
hostMutation({
  name: 'uncordonHost',
  description:
    'Lets a host take replicas again, and its workers too that are being drained. Replicas that a drain has not moved yet stay. NoChangeError when the host is open already.',
  done: 'The host is open.',
  errors: ['NO_CHANGE'],
  change: schedule('OPEN'),
})
hostMutation({
  name: 'drainHost',
  description:
    'Moves all replicas away from a host, which takes no new ones. An available replica is stopped when its replacement has a place elsewhere, within the limits of its service. NoChangeError when the host is being drained already.',
  done: 'The host is being drained.',
  errors: ['NO_CHANGE'],
  change: schedule('DRAINING'),
})
hostMutation({
  name: 'removeHost',
  description:
    'Forgets a host that is not reachable and has no replicas, with its workers. A worker that registers on it brings it back. InvalidStateError when it is reachable or has replicas.',
  done: 'The host is removed from all lists.',
  errors: ['INVALID_STATE'],
  change: (name, actor) => ({ kind: 'removeHost', name, actor }),
})
hostMutation({
  name: 'confirmHostLoss',
  description:
    'Confirms that the unreachable workers of a host are gone. They are LOST at once, and so is the host when no worker is left; their replicas are replaced. InvalidStateError when no worker of the host is UNREACHABLE.',
  done: 'The unreachable workers of the host are now LOST.',
  errors: ['INVALID_STATE'],
  change: (name, actor) => ({ kind: 'confirmHostLoss', name, actor }),
})

userMutation({
  name: 'removeWorker',
  description:
    'Forgets a worker that is LOST. With it an operator confirms that nothing of the worker runs any longer, so its host may give out the ports again that are kept for it. InvalidStateError when the worker is not LOST.',
  input: {
    description: 'The worker to remove.',
    fields: (t) => ({
      worker: t.field({
        type: WorkerReference,
        required: true,
        description: 'The worker. NotFoundError when there is none that has this id or name.',
      }),
    }),
  },
  payload: payloadOf('removeWorker', 'The worker is removed from its host.'),
  errors: ['NOT_FOUND', 'INVALID_STATE'],
  about: ({ worker }) => ({ worker: shownReference(worker) }),
  perform: ({ worker, ...rest }, call) => {
    noneLeft(rest)
    return perform('Worker', worker, (name) => ({ kind: 'removeWorker', name, ...call.by }), call)
  },
})
