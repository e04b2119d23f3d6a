import { z } from 'zod'
import { bounds } from '../../model/bounds.ts'
import { check } from '../kit/check.ts'
import { name, whole } from '../kit/values.ts'

const applyProject = z.object({ name, maxReplicas: whole('replicas of a project', bounds.projectReplicas).nullish() })

/** `maxReplicas` null: no limit. */
export function checkProject(input: unknown): { readonly name: string; readonly maxReplicas: number | null } {
  const valid = check(applyProject, input)
  return { name: valid.name, maxReplicas: valid.maxReplicas ?? null }
}
