import { expect, test } from 'vitest'
import { openLog } from '../../src/settings/openLog.ts'
import type { LogFormat } from '../../src/settings/readers.ts'

function linesOf(format: LogFormat | null, isTerminal = false): string[] {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const log = openLog({ level: 'info' }, { format, isTerminal, destination })
  log.warn({ service: 'default/web' }, 'It is late.')
  log.child({ replica: 'r1' }).info('It is here.')
  log.debug('Nobody wants this.')
  return lines
}

test('a JSON line names its level in a word and its time in ISO 8601', () => {
  const lines = linesOf('json').map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines).toMatchObject([
    { level: 'warn', service: 'default/web', msg: 'It is late.' },
    { level: 'info', replica: 'r1', msg: 'It is here.' },
  ])
  for (const { time } of lines) expect(new Date(String(time)).toISOString()).toBe(time)
})

test('pretty lines are for people, and in a file they have no colours', () => {
  const [first, second] = linesOf('pretty')
  expect(first).toMatch(
    /^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} [+-]\d{4}\] WARN: It is late\.\n +service: "default\/web"\n$/,
  )
  expect(second).toMatch(/ INFO: It is here\./)
})

test('without a word a terminal gets pretty lines, and anything else gets JSON', () => {
  expect(linesOf(null, true)[0]).toContain('It is late.\u001b')
  expect(linesOf(null, false)[0]).toMatch(/^\{/)
  expect(linesOf('json', true)[0]).toMatch(/^\{/)
})
