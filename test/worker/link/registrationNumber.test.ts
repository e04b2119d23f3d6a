import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterAll, expect, test } from 'vitest'
import { nextRegistrationNumber } from '../../../src/worker/link/registrationNumber.ts'

const directories: string[] = []
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

function stateDirectory(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'xce-worker-'))
  directories.push(made)
  return made
}

const warnings: string[] = []
const log = pino({ level: 'warn' }, { write: (line) => void warnings.push((JSON.parse(line) as { msg: string }).msg) })

test('each is above all before, also above what a server told', () => {
  const directory = stateDirectory()
  const numbers = [0, 0, 7, 0, 3].map((above) => nextRegistrationNumber(directory, above, log))
  expect(numbers).toEqual([1, 2, 8, 9, 10])
  expect(warnings).toEqual([])
})

test.each(['', 'nonsense', '-4', '1.5', '2147483647'])(
  'a file that says %j says nothing: the servers tell which is the newest',
  (said) => {
    const directory = stateDirectory()
    writeFileSync(path.join(directory, 'registrations'), said)
    expect([nextRegistrationNumber(directory, 0, log), nextRegistrationNumber(directory, 41, log)]).toEqual([1, 42])
  },
)

test('what can’t be kept is told, and hurts nobody', () => {
  const gone = path.join(stateDirectory(), 'gone')
  expect(nextRegistrationNumber(gone, 5, log)).toBe(6)
  expect(warnings.splice(0)).toEqual([
    'the number of this registration could not be kept: the next one may be refused once',
  ])
})
