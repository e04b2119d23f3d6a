import type { ServiceId } from '../../model/id.ts'
import type { NewService, Reporter } from '../../model/intent.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { Remember } from './outcome.ts'

export type Refused = { readonly kind: 'refused'; readonly refusal: Refusal }

export function notFound(id: ServiceId): Refused {
  return refused({
    code: 'NOT_FOUND',
    message: `There is no service with the id ${id}, or it is gone.`,
    path: ['input', 'service'],
  })
}

export function nameTaken({ name, projectName }: NewService): Refused {
  const message = `The project ${projectName} has a service named "${name}" already: choose another name, or delete that one and wait until its last replica has ended.`
  return refused({ code: 'NAME_TAKEN', message, path: ['input', 'name'] })
}

export function fenced({ workerId, epoch }: Pick<Reporter, 'workerId' | 'epoch'>): Refused {
  const message = `The epoch ${epoch} of the worker ${workerId} is over: it has registered again, or it was lost. Stop every replica of that epoch and register.`
  return refused({ code: 'FENCED', message })
}

/**
 * The server that judges a worker's lease found the worker silent again when its full report came, so it is asked for
 * another one.
 */
export function workerSilent({ workerId }: Pick<Reporter, 'workerId'>): Refused {
  const message = `The worker ${workerId} is not reachable: renew the lease, and report everything when the answer asks for it.`
  return refused({ code: 'INVALID_STATE', message, path: ['input', 'full'] })
}

export function keyMismatch({ operation, key }: Pick<Remember, 'operation' | 'key'>): Refused {
  const message = `The idempotencyKey ${JSON.stringify(key)} was used for ${operation} with another input: repeat that input, or take a new key.`
  return refused({ code: 'IDEMPOTENCY_MISMATCH', message })
}

function refused(refusal: Refusal): Refused {
  return { kind: 'refused', refusal }
}
