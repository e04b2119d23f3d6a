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

/** Their options may be given again, and add to the list. */
const lists: readonly string[] = ['XCE_WORKER_SERVERS', 'XCE_WORKER_ADDRESSES', 'XCE_WORKER_RESERVED_PORTS']

/** The worker's command line: every setting is an option too. A mistake is a sentence. */
export function readCommandLine(words: readonly string[]): CommandLine | { readonly fault: string } {
  const flags = { help: { type: 'boolean', short: 'h' }, drain: { type: 'boolean' } } as const
  const options = Object.fromEntries(
    settingsHelp.map(([variable]) => [optionOf(variable), { type: 'string', multiple: true } as const]),
  )
  try {
    const values: Record<string, unknown> = parseArgs({ args: [...words], options: { ...options, ...flags } }).values
    const given = settingsHelp.flatMap(([variable]) => {
      const texts = values[optionOf(variable)]
      return Array.isArray(texts) ? [{ variable, texts }] : []
    })
    const again = given.find(({ variable, texts }) => texts.length > 1 && !lists.includes(variable))
    if (again !== undefined)
      return { fault: `--${optionOf(again.variable)} is given ${again.texts.length} times: give it once.` }
    const settings = given.map(({ variable, texts }) => [variable, texts.join(',')] as const)
    return { help: values['help'] === true, drain: values['drain'] === true, settings: Object.fromEntries(settings) }
  } catch (error) {
    return { fault: faultOf(error instanceof Error ? error.message : String(error)) }
  }
}

/** Of what Node says in several sentences and lines, the first. */
function faultOf(message: string): string {
  const [sentence = ''] = message.split(/\. |\n/)
  const option = /^Option '(?:-\w, )?(--[\w-]+)' argument is ambiguous/.exec(sentence)?.[1]
  if (option !== undefined)
    return `Option '${option}' has no value: write ${option}=VALUE where that begins with "-", and see --help.`
  return `${sentence.replace(/\.$/, '')}: see --help.`
}

/** Every setting, as an option and as a variable, with what it does. */
export const settingsText = settingsHelp
  .map(([variable, does]) => `  --${optionOf(variable)}, ${variable}\n      ${does}`)
  .join('\n')
