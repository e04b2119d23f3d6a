import type { PlacementProject } from '../model/host.ts'
import type { ProjectId } from '../model/id.ts'

/** A project's quota as placement sees it, kept up to date by what services take and give back. */
export class ProjectLedger implements PlacementProject {
  readonly id: ProjectId
  readonly name: string
  maxReplicas: number | null
  usedReplicas: number

  constructor(project: PlacementProject) {
    this.id = project.id
    this.name = project.name
    this.maxReplicas = project.maxReplicas
    this.usedReplicas = project.usedReplicas
  }
}
