import type * as blocker from './blocker.ts'
import type * as content from './content.ts'
import type * as fact from './fact.ts'
import type * as lastProbe from './lastProbe.ts'
import type * as repeats from './repeats.ts'
import type * as settings from './settings.ts'

declare global {
  /** What the JSON columns hold, by the names in prisma/schema.prisma (`/// [Content]`): the generated client has these types. */
  namespace PrismaJson {
    type AllocatedPorts = readonly content.AllocatedPort[]
    type Blocker = blocker.Blocker
    type Blockers = readonly blocker.Blocker[]
    type Content = content.Content
    type FactData = fact.ServiceFactData | fact.ClusterFactData | null
    type LastExit = lastProbe.LastExit
    type LastProbe = lastProbe.LastProbe
    type Labels = Readonly<Record<string, string>>
    type Overrides = content.Overrides
    type OwnSettings = settings.OwnSettings
    type Repeats = repeats.Repeats
    type RolloutRepeats = repeats.RolloutRepeats
    type Settings = settings.Settings
    type Template = content.Template
  }
}
