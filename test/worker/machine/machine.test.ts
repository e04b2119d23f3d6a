import { isIP } from 'node:net'
import type { NetworkInterfaceInfo } from 'node:os'
import { expect, test } from 'vitest'
import { findAddresses } from '../../../src/worker/machine/machine.ts'

function entry(address: string, internal = false): NetworkInterfaceInfo {
  const rest = { address, internal, mac: '02:00:00:00:00:01' }
  return isIP(address) === 4
    ? { ...rest, family: 'IPv4', netmask: '255.255.255.0', cidr: `${address}/24` }
    : {
        ...rest,
        family: 'IPv6',
        netmask: 'ffff:ffff:ffff:ffff::',
        cidr: `${address}/64`,
        scopeid: address.startsWith('fe80:') ? 2 : 0,
      }
}

const lo = [entry('127.0.0.1', true), entry('::1', true)]

test.each([
  ['nothing at all', {}, []],
  ['loopback only', { lo }, []],
  ['link-local ones only', { lo, eth0: [entry('169.254.7.8'), entry('fe80::1ff:fe23:4567:890a')] }, []],
  ['IPv4 only', { lo, eth0: [entry('10.0.0.1')] }, ['10.0.0.1']],
  ['IPv6 only', { lo, eth0: [entry('fe80::1'), entry('fd00::1')] }, ['fd00::1']],
  ['a dual stack', { lo, eth0: [entry('fd00::1'), entry('fe80::1'), entry('10.0.0.1')] }, ['10.0.0.1', 'fd00::1']],
  [
    'several interfaces, in their order',
    {
      lo,
      eth0: [entry('fd00::1')],
      down: undefined,
      eth1: [entry('10.0.0.1'), entry('2001:db8::1')],
      eth2: [entry('192.168.0.9')],
    },
    ['10.0.0.1', '192.168.0.9', 'fd00::1', '2001:db8::1'],
  ],
])('of a machine with %s', (_what, interfaces, addresses) => {
  expect(findAddresses(interfaces)).toEqual(addresses)
})

test('of this machine', () => {
  const found = findAddresses()
  expect(found.filter((address) => isIP(address) === 0 || address === '127.0.0.1' || address === '::1')).toEqual([])
})
