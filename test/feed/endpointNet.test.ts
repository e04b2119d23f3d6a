import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AddressChange, netOf } from '../../src/feed/endpointNet.ts'
import { type EndpointAddress, inView } from '../../src/model/endpoint.ts'
import { address } from './addresses.ts'

const everything = { port: null, includeNotReady: true }
const readyOnly = { port: null, includeNotReady: false }

function change(before: EndpointAddress | null, after: EndpointAddress | null): ReadonlyMap<string, AddressChange> {
  return new Map([[(before ?? after ?? address(0)).id, { before, after }]])
}

describe('the net of several changes', () => {
  test('an address that came and went is in neither list', () => {
    expect(netOf([change(null, address(0)), change(address(0), null)], everything)).toEqual({ added: [], removed: [] })
  })

  test('an address that turned unready and ready again is in neither list', () => {
    const changes = [change(address(0), address(0, { ready: false })), change(address(0, { ready: false }), address(0))]
    expect(netOf(changes, everything)).toEqual({ added: [], removed: [] })
  })

  test('an address that turned unready left the view of those who see ready ones, and changed for the others', () => {
    const changes = [change(address(0), address(0, { ready: false }))]
    expect(netOf(changes, readyOnly)).toEqual({ added: [], removed: [address(0)] })
    expect(netOf(changes, everything)).toEqual({ added: [address(0, { ready: false })], removed: [] })
  })

  test('an address of another port is not in the view', () => {
    const metrics = address(0, { portName: 'metrics' })
    expect(netOf([change(null, metrics)], { port: 'http', includeNotReady: true })).toEqual({ added: [], removed: [] })
    expect(netOf([change(null, metrics)], { port: 'metrics', includeNotReady: true })).toEqual({
      added: [metrics],
      removed: [],
    })
  })

  test('a restart in place is the old start removed and the new one added', () => {
    const again = address(0, { start: 2 })
    const changes = [change(address(0), null), change(null, again)]
    expect(netOf(changes, readyOnly)).toEqual({ added: [again], removed: [address(0)] })
  })

  test('whatever happens, removing and then adding the net gives the view of the table after', () => {
    const step = fc.record({
      index: fc.nat(4),
      there: fc.boolean(),
      ready: fc.boolean(),
      portName: fc.constantFrom('http', 'metrics'),
    })
    const view = fc.record({ port: fc.constantFrom(null, 'http', 'metrics'), includeNotReady: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.nat(30), view, (steps, from, seen) => {
        const table = new Map<string, EndpointAddress>()
        let known = new Map<string, EndpointAddress>()
        const changes: ReadonlyMap<string, AddressChange>[] = []
        for (const [position, { index, there, ready, portName }] of steps.entries()) {
          if (position === from) known = new Map([...table].filter(([, one]) => inView(one, seen)))
          const next = address(index, { ready, portName })
          const before = table.get(next.id) ?? null
          if (there) table.set(next.id, next)
          else table.delete(next.id)
          if (position >= from) changes.push(new Map([[next.id, { before, after: there ? next : null }]]))
        }
        if (from >= steps.length) known = new Map([...table].filter(([, one]) => inView(one, seen)))
        const { added, removed } = netOf(changes, seen)
        for (const gone of removed) expect(known.delete(gone.id)).toBe(true)
        for (const one of added) known.set(one.id, one)
        expect(known).toEqual(new Map([...table].filter(([, one]) => inView(one, seen))))
      }),
    )
  })
})
