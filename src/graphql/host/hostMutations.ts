import type { HostScheduling } from '../../generated/prisma/enums.ts'
import type { HostId } from '../../model/id.ts'
import type { RefusalCode } from '../../model/refusal.ts'
import { notFound, type OperatorChange } from '../../rules/hosts/hostByOperator.ts'
import { tellServices } from '../../systems/workers/tellServices.ts'
import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import { appliedOf, type Call, titleOf, userMutation } from '../kit/mutation.ts'
import { errorOf } from '../kit/refusalError.ts'
import { rowType } from '../kit/rowType.ts'
import { storable } from '../kit/storableText.ts'

// What operators say of hosts (R15). Each is one write, and then one commit of every service that has replicas there.

interface HostMutation {
  readonly name: string
  readonly description: string
  /** Of the payload. */
  readonly done: string
  readonly errors: readonly RefusalCode[]
  readonly change: (name: string, actor: string) => OperatorChange
}

function hostMutation({ name, description, done, errors, change }: HostMutation): void {
  userMutation({
    name,
    description,
    input: {
      description: 'Which host.',
      fields: (t) => ({ host: t.string({ required: true, description: "The host's name." }) }),
    },
    payload: payloadOf(name, done),
    errors: ['NOT_FOUND', ...errors],
    about: ({ host }) => ({ host }),
    perform: ({ host, ...rest }, call) => {
      noneLeft(rest)
      return perform(change(host, call.viewer.subject), call)
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

async function perform(change: OperatorChange, { app, remember }: Call): Promise<{ readonly hostId: HostId }> {
  if (!storable(change.name)) throw errorOf(notFound(change))
  const { hostId } = appliedOf('host', await app.committer.write(change, remember(null)))
  // It is done: what could not be told to the services now, the leases of workers tell them a while later.
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
    'A host takes no new replicas; those it has stay, also where it was being drained. Is it cordoned already: NoChangeError.',
  done: 'The host is cordoned.',
  errors: ['NO_CHANGE'],
  change: schedule('CORDONED'),
})
hostMutation({
  name: 'uncordonHost',
  description:
    'A host takes replicas again, and those of its workers that are being drained do; what a drain has not moved yet stays. Is it open already: NoChangeError.',
  done: 'The host is open.',
  errors: ['NO_CHANGE'],
  change: schedule('OPEN'),
})
hostMutation({
  name: 'drainHost',
  description:
    'A host takes no new replicas, and those it has leave: an available one is stopped when its replacement has a place elsewhere, within the limits of its service. Is it being drained already: NoChangeError.',
  done: 'The host is being drained.',
  errors: ['NO_CHANGE'],
  change: schedule('DRAINING'),
})
hostMutation({
  name: 'removeHost',
  description:
    'Forgets a host that is not reachable and has no replicas, and its workers. A worker that registers on it brings it back. Is it reachable or has replicas: InvalidStateError.',
  done: 'The host is removed: it is in no list any more.',
  errors: ['INVALID_STATE'],
  change: (name, actor) => ({ kind: 'removeHost', name, actor }),
})
hostMutation({
  name: 'confirmHostLoss',
  description:
    'An operator’s word that the unreachable workers of a host are gone: they are LOST at once, with the host when none is left, and their replicas are replaced. Has it none, being reachable or lost already: InvalidStateError.',
  done: 'What was unreachable of the host is lost.',
  errors: ['INVALID_STATE'],
  change: (name, actor) => ({ kind: 'confirmHostLoss', name, actor }),
})

userMutation({
  name: 'removeWorker',
  description:
    'Forgets a worker that is LOST: an operator’s word that nothing of it runs any more, so that its host may give the ports again that are kept for it. Is it not lost: InvalidStateError.',
  input: {
    description: 'Which worker.',
    fields: (t) => ({ worker: t.string({ required: true, description: "The worker's name." }) }),
  },
  payload: payloadOf('removeWorker', 'The worker is removed: its host has it no more.'),
  errors: ['NOT_FOUND', 'INVALID_STATE'],
  about: ({ worker }) => ({ worker }),
  perform: ({ worker, ...rest }, call) => {
    noneLeft(rest)
    return perform({ kind: 'removeWorker', name: worker, actor: call.viewer.subject }, call)
  },
})
