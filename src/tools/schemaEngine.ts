import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils'
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg'

// Node has WebAssembly, but the types of Node 20 don't.
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, unknown> } }>
}

/** Loads Prisma's schema engine in WebAssembly, which needs no native engine and no download. It is for development only. */
export async function loadSchemaEngine(
  factory: SqlMigrationAwareDriverAdapterFactory,
  schema: { path: string; content: string },
): Promise<glue.SchemaEngine> {
  const directory = path.dirname(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm'))
  const bytes = await readFile(path.join(directory, 'schema_engine_bg.wasm'))
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': { ...glue } })
  glue.__wbg_set_wasm(instance.exports)
  const start = instance.exports['__wbindgen_start'] as () => void
  start()
  return glue.SchemaEngine.new(
    { datamodels: [[schema.path, schema.content]] },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory(factory),
  )
}
