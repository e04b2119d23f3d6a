import type { z } from 'zod'

/** A setting of a program, declared once: how its text is read, what applies without it, and what `--help` prints. */
export type Setting = {
  /** Reads the variable's text. Its messages end the sentence `XCE_PORT is "x": …` and say which values are allowed. */
  readonly read: z.ZodType<unknown, string>
  /** Says what the setting does, in sentences. */
  readonly does: string
} & WithoutValue

/** Says what applies when the variable is not set. */
type WithoutValue =
  /** The text that is read instead. */
  | { readonly default: string }
  /** The setting is null then; this phrase tells people what the program does. */
  | { readonly otherwise: string }
  /** The program can't run without the setting; this phrase says what to give. */
  | { readonly required: string }

export type Settings = Readonly<Record<string, Setting>>

type ValueOf<One extends Setting> = z.output<One['read']> | (One extends { readonly otherwise: string } ? null : never)
export type ValuesOf<All extends Settings> = { readonly [Name in keyof All]: ValueOf<All[Name]> }

export type Environment = Readonly<Record<string, string | undefined>>

interface ReadSettings<All extends Settings> {
  /** Null when a setting has a fault. */
  readonly values: ValuesOf<All> | null
  /** The settings without a fault: enough to look for faults that lie between two settings. */
  readonly valid: Partial<ValuesOf<All>>
  /** One sentence for each fault. */
  readonly faults: readonly string[]
}

/** Reads every setting from the environment and collects all faults, so that people can correct them at once. */
export function readEnvironment<All extends Settings>(settings: All, environment: Environment): ReadSettings<All> {
  const faults: string[] = []
  const valid: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    const text = textOf(environment, name) ?? ('default' in setting ? setting.default : null)
    if (text === null) {
      if ('required' in setting) faults.push(`${name} is not set: ${setting.required}.`)
      else valid[name] = null
      continue
    }
    const result = setting.read.safeParse(text)
    if (result.success) valid[name] = result.data
    else faults.push(...faultsOf(name, text, result.error.issues))
  }
  const read = valid as ValuesOf<All>
  return { values: faults.length === 0 ? read : null, valid: read, faults }
}

/** The text of a variable; null when it is not set. An empty variable counts as not set. */
export function textOf(environment: Environment, name: string): string | null {
  return environment[name]?.trim() || null
}

/** The items of a list, which commas separate. */
export function itemsOf(text: string): string[] {
  return text.split(',').flatMap((item) => item.trim() || [])
}

/** Returns the help text of a setting: what it does, and what applies without it. */
export function explain(setting: Setting): string {
  if ('default' in setting) return `${setting.does} [${setting.default}]`
  return 'otherwise' in setting
    ? `${setting.does} Without it: ${setting.otherwise}.`
    : `${setting.does} It is required.`
}

/** One sentence for the whole text, or one for each item of a list that has a fault of its own. */
function faultsOf(name: string, text: string, issues: readonly z.core.$ZodIssue[]): string[] {
  const [first, ...others] = issues
  const sentenceOf = ({ path: [index], message }: z.core.$ZodIssue) =>
    typeof index === 'number'
      ? `${name} has ${quoted(itemsOf(text)[index] ?? '')}: ${message}.`
      : `${name} is ${quoted(text)}: ${message}.`
  if (first === undefined) return []
  return [sentenceOf(first), ...others.filter(({ path }) => path.length > 0).map(sentenceOf)]
}

/** Faults are printed and logged, so a password in a URL is shown as ***. */
function quoted(text: string): string {
  return JSON.stringify(text.replace(/(:\/\/[^:/?#]*):.*@/, '$1:***@').replace(/([?&]password=)[^&]*/, '$1***'))
}
