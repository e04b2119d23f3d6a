import type { Content, GivenVariable, PortDeclaration, Replaceable } from '../../model/content.ts'
import { quoted } from '../../model/quoted.ts'
import type { InputIssue } from '../../model/refusal.ts'
import type { Settings } from '../../model/settings.ts'
import { withKeptSecrets } from '../version/environment.ts'
import type { Revision } from '../version/fieldChanges.ts'
import { mergedIssues } from '../version/mergedIssues.ts'
import { defaultContent, settingsWith } from './defaults.ts'
import { settingsIssues } from './settings.ts'

type Nullable<Values> = { readonly [Key in keyof Values]?: Values[Key] | null }

/** A change of a profile. Fields that are left out stay as they are, and null goes back to the default. */
export interface ProfileChange extends Nullable<Omit<Replaceable, 'command'>> {
  readonly command?: readonly string[]
  readonly env?: readonly GivenVariable[] | null
  readonly settings: Nullable<Settings>
}

const defaults: Omit<Content, 'command'> = {
  env: [],
  workingDirectory: null,
  ports: [],
  startup: null,
  readiness: null,
  liveness: null,
  ...defaultContent,
}

/**
 * Lays a change over the newest revision of a profile, and judges the whole. Only the writer can do it: another revision
 * may have come since the caller read one. Paths begin at the input.
 */
export function changedProfile(newest: Revision, change: ProfileChange): Revision & { readonly issues: InputIssue[] } {
  const { env, settings: given, ...fields } = change
  const kept = withKeptSecrets(env ?? [], newest.content.env)
  const values = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value ?? defaults[name as keyof typeof defaults]]],
  )
  const content: Content = {
    ...newest.content,
    ...Object.fromEntries(values),
    ...(env === undefined ? {} : { env: kept.variables }),
  }
  const usual = settingsWith({}, content)
  const changed = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value ?? usual[name as keyof Settings]]],
  )
  const settings: Settings = { ...newest.settings, ...Object.fromEntries(changed) }
  return {
    content,
    settings,
    issues: [
      ...kept.issues.map(({ path, message }) => ({ path: ['input', 'env', ...path], message })),
      ...mergedIssues(content, content.env).map(({ path, message }) => ({
        path: ['input', ...pathIn(change, path)],
        message,
      })),
      ...settingsIssues(settings, Object.fromEntries(changed)).map(({ path, message }) => ({
        path: ['input', 'serviceDefaults', ...path],
        message,
      })),
    ],
  }
}

/** The fault lies in what was given; a fault of what was not given was made by the ports. */
function pathIn(change: ProfileChange, path: readonly string[]): readonly string[] {
  const [field] = path
  return change[field as 'readiness'] ? path : ['ports']
}

/** What services may rely on that one content has and another lacks, with the field that drops it. */
export interface Dropped {
  readonly field: 'ports' | 'startup' | 'readiness' | 'liveness'
  /** Words for it, such as `port "http"`. */
  readonly what: string
}

export function droppedBy(before: Content, after: Content): Dropped[] {
  const names = new Set(after.ports.map(({ name }: PortDeclaration) => name))
  const ports = before.ports.filter(({ name }) => !names.has(name))
  const probes = (['startup', 'readiness', 'liveness'] as const).filter(
    (probe) => before[probe] !== null && after[probe] === null,
  )
  return [
    ...ports.map(({ name }) => ({ field: 'ports', what: `port ${quoted(name)}` }) as const),
    ...probes.map((field) => ({ field, what: `the ${field} probe` })),
  ]
}
