import { describe, expect, test } from 'vitest'
import { changesKept } from '../../src/feed/changeLog.ts'
import { ServiceTopic } from '../../src/feed/serviceTopic.ts'
import type { ServiceId } from '../../src/model/id.ts'
import { address, changeOf } from './addresses.ts'

const open = () => new ServiceTopic('service' as ServiceId)

describe('the topic of a service', () => {
  test('facts that come during the first reading are applied after it, and those that it has are left out', () => {
    const topic = open()
    topic.applyChange(5n, changeOf({ upserted: [address(0)] }))
    topic.applyChange(7n, changeOf({ removed: [address(0).id], upserted: [address(1)] }))
    topic.begin({ revision: 5n, addresses: [address(0)], isGone: false })
    expect(topic.revision).toBe(7n)
    expect(topic.addresses).toEqual([address(1)])
    expect(topic.since(5n)).toHaveLength(1)
    expect(topic.since(7n)).toEqual([])
  })

  test('a reading that is ahead of the facts is not undone by them', () => {
    const topic = open()
    topic.begin({ revision: 9n, addresses: [address(1)], isGone: false })
    topic.applyChange(8n, changeOf({ upserted: [address(0)] }))
    expect(topic.addresses).toEqual([address(1)])
    expect(topic.revision).toBe(9n)
  })

  test('a change wakes the subscribers, and those that left no more', () => {
    const topic = open()
    topic.begin({ revision: 1n, addresses: [], isGone: false })
    let woken = 0
    const leave = topic.subscribe(() => woken++)
    topic.applyChange(2n, changeOf({ upserted: [address(0)] }))
    leave()
    topic.applyChange(3n, changeOf({ removed: [address(0).id] }))
    expect(woken).toBe(1)
    expect(topic.subscribers).toBe(0)
  })

  test('keeps a bounded number of changes: who is further behind is told so', () => {
    const topic = open()
    topic.begin({ revision: 0n, addresses: [], isGone: false })
    for (let revision = 1n; revision <= BigInt(changesKept) + 1n; revision++) {
      topic.applyChange(revision, changeOf({ upserted: [address(0, { ready: revision % 2n === 0n })] }))
    }
    expect(topic.since(0n)).toBeNull()
    expect(topic.since(1n)).toHaveLength(changesKept)
  })

  test('is gone at the change that says when the service was deleted', () => {
    const topic = open()
    topic.begin({ revision: 1n, addresses: [], isGone: false })
    topic.applyChange(2n, changeOf({ after: { deletionRequestedAt: 5 } }))
    expect(topic.goneAt).toBeNull()
    topic.applyChange(3n, changeOf({ after: { deletedAt: 6 } }))
    expect(topic.goneAt).toBe(3n)
  })
})
