import { expect, test } from 'vitest'
import { protocolFault, serverProtocols, workerProtocolVersion } from '../../src/model/workerProtocol.ts'

test('a server takes the workers of its own release', () => {
  expect(protocolFault(workerProtocolVersion, serverProtocols)).toBeNull()
})

test('a server takes a range; who is refused is told both versions and what to upgrade', () => {
  const range = { oldest: 2, newest: 3 }
  expect([2, 3].map((worker) => protocolFault(worker, range))).toEqual([null, null])
  expect(protocolFault(1, range)).toBe(
    'The worker speaks version 1 of the protocol, this server takes versions 2 to 3: upgrade this worker.',
  )
  expect(protocolFault(4, { oldest: 3, newest: 3 })).toBe(
    'The worker speaks version 4 of the protocol, this server takes version 3: upgrade the servers first, then the workers.',
  )
})
