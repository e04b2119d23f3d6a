import { defineConfig } from 'prisma/config'

// `generate`, `validate` and `format` run in WebAssembly, yet the CLI first looks for a native schema engine and downloads
// one. These commands never start it, so any existing file satisfies the look-up, with or without internet.
if (['generate', 'validate', 'format'].includes(process.argv[2] ?? '')) {
  process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= process.execPath
}

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env['DATABASE_URL'] ?? 'postgresql://localhost:5432/postgres' },
})
