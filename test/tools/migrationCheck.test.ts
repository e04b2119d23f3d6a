import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MigrationConnection } from '../../src/store/database/migrate.ts'
import { contractionsOf } from '../../src/tools/contractions.ts'
import { migrationMistakes } from '../../src/tools/migrationCheck.ts'

let database: PGlite
let connection: MigrationConnection
beforeAll(async () => {
  database = await PGlite.create()
  connection = { exec: (script) => database.exec(script), query: (sql, params) => database.query(sql, params) }
})
afterAll(() => database.close())

const old = `DROP SCHEMA public CASCADE; CREATE SCHEMA public;
  CREATE TYPE "Colour" AS ENUM ('RED', 'BLUE');
  CREATE TABLE "Car" ("id" text PRIMARY KEY, "wheels" int NOT NULL DEFAULT 4, "name" text, "colour" "Colour" NOT NULL);
  CREATE UNIQUE INDEX "Car_name_key" ON "Car" ("name");
  CREATE FUNCTION "honk"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
  CREATE TRIGGER "honk" AFTER UPDATE ON "Car" FOR EACH STATEMENT EXECUTE FUNCTION "honk"();`

async function found(script: string): Promise<string[]> {
  await connection.exec(old)
  return contractionsOf(connection, { script })
}

test.each([
  [
    'a new table with whatever it has',
    'CREATE TABLE "Road" ("id" text PRIMARY KEY, "lanes" int NOT NULL CHECK ("lanes" > 0))',
  ],
  ['a column that may be null', 'ALTER TABLE "Car" ADD COLUMN "doors" int'],
  ['a column with a default', `ALTER TABLE "Car" ADD COLUMN "doors" int NOT NULL DEFAULT 5`],
  [
    'an index, a trigger and a function',
    'CREATE INDEX ON "Car" ("wheels"); CREATE TRIGGER "again" AFTER DELETE ON "Car" EXECUTE FUNCTION "honk"()',
  ],
  ['null where it was not taken', 'ALTER TABLE "Car" ALTER COLUMN "wheels" DROP NOT NULL'],
  [
    'rows, and a reference that goes with what it refers to',
    `INSERT INTO "Car" VALUES ('a', 4, 'a', 'RED'); CREATE TABLE "Key" ("car" text REFERENCES "Car" ON DELETE CASCADE)`,
  ],
  ['a word in a text that looks like more', `COMMENT ON TABLE "Car" IS 'DROP TABLE "Car"'`],
])('%s only expands', async (_what, script) => {
  expect(await found(script)).toEqual([])
})

test.each([
  ['DROP TABLE "Car"', 'table Car is dropped or renamed'],
  ['ALTER TABLE "Car" RENAME TO "Auto"', 'table Car is dropped or renamed'],
  ['ALTER TABLE "Car" DROP COLUMN "name"', 'column Car.name is dropped or renamed'],
  ['ALTER TABLE "Car" RENAME COLUMN "name" TO "label"', 'column Car.name is dropped or renamed'],
  ['ALTER TABLE "Car" ALTER COLUMN "wheels" TYPE bigint', 'column Car.wheels changes from integer to bigint'],
  ['ALTER TABLE "Car" ALTER COLUMN "name" SET NOT NULL', 'column Car.name becomes NOT NULL'],
  ['ALTER TABLE "Car" ADD COLUMN "doors" int NOT NULL', 'column Car.doors is new, NOT NULL and without a default'],
  ['ALTER TABLE "Car" ALTER COLUMN "wheels" DROP DEFAULT', 'default Car.wheels is dropped or renamed'],
  [
    'ALTER TABLE "Car" ADD CONSTRAINT "few" CHECK ("wheels" < 9)',
    'constraint Car.few is new: it may refuse what older servers write',
  ],
  [
    'CREATE UNIQUE INDEX "one" ON "Car" ("wheels")',
    'unique index Car.one is new: it may refuse what older servers write',
  ],
  ['DROP INDEX "Car_name_key"', 'unique index Car.Car_name_key is dropped or renamed'],
  ['DROP TRIGGER "honk" ON "Car"', 'trigger Car.honk is dropped or renamed'],
  [`ALTER TYPE "Colour" ADD VALUE 'GREEN'`, "value Colour.GREEN is new: older servers can't read it"],
  [`ALTER TYPE "Colour" RENAME VALUE 'RED' TO 'ROT'`, 'value Colour.RED is dropped or renamed'],
  [
    'CREATE TABLE "Key" ("car" text CONSTRAINT "of" REFERENCES "Car")',
    'reference Car.of is new: it keeps older servers from deleting rows of Car',
  ],
])('%s does not', async (script, what) => {
  expect(await found(script)).toContain(what)
})

// `npm run migrations -- check` says the same. It is no part of `npm run check`, because it makes a database.
test('the migrations lead to prisma/schema.prisma, and none of them takes away what older servers need', async () => {
  expect(await migrationMistakes()).toEqual([])
})
