import { expect, test } from 'vitest'
import { serverProtocols, workerProtocolVersion } from '../../../src/model/workerProtocol.ts'
import { readGreeting } from '../../../src/worker/link/greeting.ts'

const greeting = { workerProtocol: serverProtocols, workerLease: { leaseSeconds: 15, graceSeconds: 60 } }

test('what a server says of itself is read, and what a later one adds is passed over', () => {
  expect(readGreeting({ ...greeting, more: true })).toEqual(greeting)
})

test.each([
  [undefined, 'it is not a server of XCE Services'],
  [{}, 'it is not a server of XCE Services'],
  [{ ...greeting, workerProtocol: { oldest: '1', newest: 1 } }, 'it is not a server of XCE Services'],
  [{ workerProtocol: serverProtocols }, 'does not say for how long a worker may be silent'],
  [{ ...greeting, workerLease: { leaseSeconds: 0, graceSeconds: 60 } }, 'for how long a worker may be silent'],
  // Whoever does not take this version may say the rest in another way: the versions are what counts then.
  [
    { workerProtocol: { oldest: workerProtocolVersion + 1, newest: workerProtocolVersion + 2 } },
    `The worker speaks version ${workerProtocolVersion} of the protocol, this server takes versions ${workerProtocolVersion + 1} to ${workerProtocolVersion + 2}: upgrade this worker.`,
  ],
])('%j is refused in a sentence', (payload, sentence) => {
  expect(() => readGreeting(payload)).toThrow(sentence)
})
