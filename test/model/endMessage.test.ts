import { expect, test } from 'vitest'
import { EndReason } from '../../src/generated/prisma/enums.ts'
import { endMessageOf } from '../../src/model/endMessage.ts'

const none = { exitCode: null, exitSignal: null, endMessage: null }

test.each([
  [
    'COMPLETED',
    { exitCode: 0, endMessage: 'The process exited with code 0.' },
    'It completed its work: the process exited with code 0.',
  ],
  [
    'EXITED',
    { exitCode: 3, endMessage: 'The process exited with code 3.' },
    'It ended: the process exited with code 3.',
  ],
  ['EXITED', { exitCode: 3 }, 'It ended: the process exited with code 3.'],
  ['EXITED', { exitSignal: 'KILL' }, 'It ended: the process was ended by SIGKILL.'],
  ['EXITED', {}, 'It ended.'],
  [
    'GAVE_UP',
    { exitCode: 0, endMessage: 'Its liveness probe failed 3 times in a row: GET /health on port 20001 answered 503.' },
    'It ended and its restarts in place are used up: its liveness probe failed 3 times in a row: GET /health on port 20001 answered 503.',
  ],
  [
    'START_FAILED',
    { endMessage: '"serve" was not found in PATH.' },
    'It could not be started: "serve" was not found in PATH.',
  ],
  ['HOST_LOST', { endMessage: 'its worker was lost' }, 'It is no longer there: its worker was lost.'],
  ['SCALED_DOWN', { exitCode: 0 }, 'It was stopped: the service was scaled down.'],
  ['REQUEUED', {}, 'It was stopped: a user moved it away from its host.'],
] as const)('%s, %j: %s', (endReason, how, message) => {
  expect(endMessageOf({ ...none, endReason, ...how })).toBe(message)
})

test('every replica that has ended has a message, and no other', () => {
  for (const endReason of Object.values(EndReason)) expect(endMessageOf({ ...none, endReason })).toMatch(/^It .+\.$/)
  expect(endMessageOf({ ...none, endReason: null })).toBeNull()
})
