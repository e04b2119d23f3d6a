import type { PrismaClient } from '../../generated/prisma/client.ts'
import { builder } from '../kit/builder.ts'
import { whereNamed } from '../kit/named.ts'
import { idDescription, type Reference, referenceFaults } from '../kit/reference.ts'
import { storable } from '../kit/storableText.ts'

function referenceOf(type: 'Host' | 'Worker') {
  const what = type.toLowerCase()
  return builder.inputRef<Reference>(`${type}Reference`).implement({
    description: `Names a ${what} by its name or by its id.`,
    fields: (t) => ({
      id: t.id({ description: idDescription(type) }),
      name: t.string({ description: `The ${what}'s name. Give it or the id.` }),
    }),
    check: (reference) => referenceFaults(type, reference),
  })
}

export const HostReference = referenceOf('Host')
export const WorkerReference = referenceOf('Worker')

/** Names what a reference is about in a log and in messages. */
export function shownReference({ id, name }: Reference): string {
  return name ?? id ?? ''
}

/** Returns the condition on the host's row; null where no row can have such an id or name. */
export function whereHost(reference: Reference) {
  const where = whereNamed('Host', reference)
  return where === null ? null : { ...where, removedAt: null }
}

/** Returns the name of the host or worker that is named. Null means that no row has the id, or that no row can have such a name. */
export async function nameOf(
  prisma: PrismaClient,
  type: 'Host' | 'Worker',
  reference: Reference,
): Promise<string | null> {
  if (typeof reference.id !== 'string') return storable(reference.name ?? '') ? (reference.name ?? null) : null
  const where = whereNamed(type, reference)
  if (where === null) return null
  const select = { name: true } as const
  const row =
    type === 'Host'
      ? await prisma.host.findFirst({ where: { ...where, removedAt: null }, select })
      : await prisma.worker.findFirst({ where, select })
  return row?.name ?? null
}
