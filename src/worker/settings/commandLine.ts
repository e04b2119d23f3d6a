import { parseArgs } from 'node:util'
import { readsList } from '../../settings/readers.ts'
import { explain } from '../../settings/setting.ts'
import { workerSettings } from './settings.ts'

export interface CommandLine {
  readonly help: boolean
  readonly drain: boolean
  /** The texts of the settings, by the names of their environment variables. */
  readonly settings: Readonly<Record<string, string>>
}

/** Each setting with the name of its option, for example `port-range` for XCE_WORKER_PORT_RANGE. */
const options = Object.entries(workerSettings).map(([variable, setting]) => ({
  variable,
  setting,
  option: variable
    .replace(/^XCE_(WORKER_)?/, '')
    .toLowerCase()
    .replaceAll('_', '-'),
}))

/** Reads the worker's command line, on which every setting is an option too. A fault is a sentence. */
export function readCommandLine(words: readonly string[]): CommandLine | { readonly fault: string } {
  const flags = { help: { type: 'boolean', short: 'h' }, drain: { type: 'boolean' } } as const
  const texts = Object.fromEntries(options.map(({ option }) => [option, { type: 'string', multiple: true } as const]))
  try {
    const values: Record<string, unknown> = parseArgs({ args: [...words], options: { ...texts, ...flags } }).values
    const settings: Record<string, string> = {}
    for (const { variable, option, setting } of options) {
      const given = values[option]
      if (!Array.isArray(given)) continue
      // The option of a list may be given several times: each time adds to the list.
      if (given.length > 1 && !readsList(setting.read))
        return { fault: `--${option} is given ${given.length} times: give it once.` }
      settings[variable] = given.join(',')
    }
    return { help: values['help'] === true, drain: values['drain'] === true, settings }
  } catch (error) {
    return { fault: faultOf(error instanceof Error ? error.message : String(error)) }
  }
}

/** Node explains a fault in several sentences and lines; the first sentence is enough. */
function faultOf(message: string): string {
  const [sentence = ''] = message.split(/\. |\n/)
  const option = /^Option '(?:-\w, )?(--[\w-]+)' argument is ambiguous/.exec(sentence)?.[1]
  if (option !== undefined)
    return `Option '${option}' has no value: write ${option}=VALUE where that begins with "-", and see --help.`
  return `${sentence.replace(/\.$/, '')}: see --help.`
}

/** Every setting, as `--help` prints it: its option, its environment variable, and what it does. */
export const settingsText = options
  .map(({ option, variable, setting }) => `  --${option}, ${variable}\n      ${explain(setting)}`)
  .join('\n')
