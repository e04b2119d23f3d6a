import { readFileSync } from 'node:fs'
import path from 'node:path'
import { buildSchema, getNamedType, isInputObjectType, isInterfaceType, isObjectType } from 'graphql'
import { expect, test } from 'vitest'

// docs/api.md says how a Boolean is named.

const root = path.join(import.meta.dirname, '../..')

/** The Relay specification names these two. */
const ofRelay = ['PageInfo.hasNextPage', 'PageInfo.hasPreviousPage']

test.each(['schema.graphql', 'src/graphql/workerProtocol/worker.graphql'])(
  'no Boolean of %s has a verb before its adjective',
  (file) => {
    const booleans: string[] = []
    const look = (name: string, { type }: { readonly type: Parameters<typeof getNamedType>[0] }) => {
      if (getNamedType(type)?.name === 'Boolean') booleans.push(name)
    }
    for (const type of Object.values(buildSchema(readFileSync(path.join(root, file), 'utf8')).getTypeMap())) {
      if (type.name.startsWith('__')) continue
      if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue
      for (const field of Object.values(type.getFields())) {
        look(`${type.name}.${field.name}`, field)
        for (const arg of 'args' in field ? field.args : []) look(`${type.name}.${field.name}.${arg.name}`, arg)
      }
    }
    expect(booleans.length).toBeGreaterThan(5)
    const withVerb = booleans.filter((name) =>
      /\.(is|has|have|are|was|were|will|can|could|should|may|must|does|did)[A-Z]\w*$/.test(name),
    )
    expect(withVerb.filter((name) => !ofRelay.includes(name))).toEqual([])
  },
)
