import fc from 'fast-check'
import { expect, test } from 'vitest'
import { replay } from '../../../src/simulation/replayRun.ts'
import { readScenario } from '../../../src/simulation/scenarioFile/readScenario.ts'
import type { Line } from '../../../src/simulation/scenarioRun.ts'
import { Recording, recorded } from '../../property/recording.ts'
import { history } from '../../property/serviceHistory.ts'
import { ServiceLife } from '../../property/serviceLife.ts'

test('a random history that was written to a file ends in the same service when it is told again', () => {
  fc.assert(
    fc.property(history, (told) => {
      const recording = new Recording()
      const { store } = new ServiceLife(told, recording)
      const read = readScenario(recording.text)
      if (read.kind !== 'replay') throw new Error('It is a replay.')
      const lines: Line[] = []
      const simulation = replay(read.replay, (line) => lines.push(line))
      expect(lines.filter(({ isFault }) => isFault)).toEqual([])
      const { guard, revision, specRevision, ...snapshot } =
        simulation.store.services.get(store.snapshot.id)?.snapshot ?? store.snapshot
      const { guard: _guard, revision: _revision, specRevision: _spec, ...lived } = store.snapshot
      expect({ ...snapshot, replicas: [...snapshot.replicas.values()] }).toEqual({
        ...lived,
        replicas: [...lived.replicas.values()],
      })
    }),
    { numRuns: 100 },
  )
}, 180_000)

test('what a life throws shows the scenario, and the scenario shows what was broken', () => {
  const [told] = fc.sample(history, { numRuns: 1, seed: 5 })
  if (told === undefined) throw new Error('There is a history.')
  let message = ''
  try {
    recorded((recording) => {
      new ServiceLife(told, recording)
      throw new Error('Broken: on purpose.')
    })
  } catch (error) {
    message = (error as Error).message
  }
  expect(message).toMatch(/^Broken: on purpose\.\n\nSave this as/)
  const text = message.slice(message.indexOf('about:'))
  expect(readScenario(text).kind).toBe('replay')
})
