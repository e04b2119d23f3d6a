import { parseArgs } from 'node:util'
import { settingsHelp } from './settings.ts'

/** `--port-range` of XCE_WORKER_PORT_RANGE. */
export function optionOf(variable: string): string {
  return variable
    .replace(/^XCE_(WORKER_)?/, '')
    .toLowerCase()
    .replaceAll('_', '-')
}

export interface CommandLine {
  readonly help: boolean
  readonly drain: boolean
  /** The settings by the names of their environment variables. */
  readonly settings: Readonly<Record<string, string>>
}

/** The worker's command line: every setting is an option too. An option that is given again adds to its list. A mistake is a sentence. */
export function readCommandLine(words: readonly string[]): CommandLine | { readonly fault: string } {
  const flags = { help: { type: 'boolean', short: 'h' }, drain: { type: 'boolean' } } as const
  const options = Object.fromEntries(settingsHelp.map(([variable]) => [optionOf(variable), { type: 'string', multiple: true } as const]))
  try {
    const values: Record<string, unknown> = parseArgs({ args: [...words], options: { ...options, ...flags } }).values
    const settings = settingsHelp.flatMap(([variable]) => {
      const given = values[optionOf(variable)]
      return Array.isArray(given) ? [[variable, given.join(',')] as const] : []
    })
    return { help: values['help'] === true, drain: values['drain'] === true, settings: Object.fromEntries(settings) }
  } catch (error) {
    return { fault: `${error instanceof Error ? error.message.split('. ')[0] : String(error)}: see --help.` }
  }
}

/** Every setting, as an option and as a variable, with what it does. */
export const settingsText = settingsHelp.map(([variable, does]) => `  --${optionOf(variable)}, ${variable}\n      ${does}`).join('\n')
