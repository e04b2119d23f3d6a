import type { Migration, MigrationConnection } from '../store/database/migrate.ts'

/** The parts of a schema on which servers rely, by their names. */
interface Schema {
  readonly tables: ReadonlySet<string>
  readonly things: ReadonlyMap<string, Thing>
}

interface Thing {
  /** The table to which it belongs; null when it belongs to none. */
  readonly table: string | null
  readonly kind: string
  readonly is: string
  /** Whether it may reject what servers write that don't know it. */
  readonly restricts: boolean
}

const things = `
  SELECT c.relname AS "table", 'column' AS kind, a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS is,
    a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AS restricts
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL SELECT c.relname, 'default', a.attname, pg_get_expr(d.adbin, d.adrelid), false
  FROM pg_attrdef d JOIN pg_class c ON c.oid = d.adrelid JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
  WHERE c.relnamespace = 'public'::regnamespace
  UNION ALL SELECT c.relname, 'NOT NULL', a.attname, '', true
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull
  UNION ALL SELECT c.relname, 'constraint', o.conname, pg_get_constraintdef(o.oid), true
  FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid WHERE c.relnamespace = 'public'::regnamespace AND o.contype <> 'n'
  UNION ALL SELECT r.relname, 'reference', o.conname, '', o.confdeltype IN ('a', 'r')
  FROM pg_constraint o JOIN pg_class r ON r.oid = o.confrelid WHERE r.relnamespace = 'public'::regnamespace AND o.contype = 'f'
  UNION ALL SELECT c.relname, 'unique index', i.relname, pg_get_indexdef(i.oid), true
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
  WHERE c.relnamespace = 'public'::regnamespace AND x.indisunique AND NOT EXISTS (SELECT FROM pg_constraint o WHERE o.conindid = i.oid)
  UNION ALL SELECT c.relname, 'trigger', t.tgname, '', false
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = 'public'::regnamespace AND NOT t.tgisinternal
  UNION ALL SELECT NULL, 'function', p.proname, pg_get_function_identity_arguments(p.oid), false FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
  UNION ALL SELECT NULL, 'enum', t.typname, '', false FROM pg_type t WHERE t.typnamespace = 'public'::regnamespace AND t.typtype = 'e'
  UNION ALL SELECT t.typname, 'value', e.enumlabel, '', true FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid WHERE t.typnamespace = 'public'::regnamespace`

/**
 * One phrase for each thing that a migration takes away from servers that don't know it, or that may reject what they
 * write; none when the migration only expands the schema. The migration is applied to a database that has the earlier
 * ones, and the schema is compared before and after. A new value of an enum counts, because a server that does not know
 * the value can't read it.
 */
export async function contractionsOf(
  connection: MigrationConnection,
  { script }: Pick<Migration, 'script'>,
): Promise<string[]> {
  const before = await readSchema(connection)
  await connection.exec(script)
  const after = await readSchema(connection)
  const found: string[] = []
  for (const table of before.tables) if (!after.tables.has(table)) found.push(`table ${table} is dropped or renamed`)
  for (const [name, { table, kind, is }] of before.things) {
    if (table !== null && before.tables.has(table) && !after.tables.has(table)) continue
    const now = after.things.get(name)
    // Without one of these the database accepts more, so its removal harms nobody.
    if (now === undefined && ['NOT NULL', 'reference'].includes(kind)) continue
    if (now === undefined) found.push(`${name} is dropped or renamed`)
    else if (now.is !== is) found.push(`${name} changes from ${is} to ${now.is}`)
  }
  for (const [name, { table, kind, restricts }] of after.things) {
    if (!restricts || before.things.has(name) || !isOld(before, table, kind)) continue
    if (kind === 'column') found.push(`${name} is new, NOT NULL and without a default`)
    else if (kind === 'NOT NULL') {
      const column = name.replace('NOT NULL', 'column')
      if (before.things.has(column)) found.push(`${column} becomes NOT NULL`)
    } else if (kind === 'reference') found.push(`${name} is new: it keeps older servers from deleting rows of ${table}`)
    else if (kind === 'value') found.push(`${name} is new: older servers can't read it`)
    else found.push(`${name} is new: it may refuse what older servers write`)
  }
  return found
}

/** Whether servers that don't know the migration use the table or enum to which the thing belongs. */
function isOld({ tables, things: known }: Schema, table: string | null, kind: string): boolean {
  return table !== null && (kind === 'value' ? known.has(`enum ${table}`) : tables.has(table))
}

async function readSchema({ query }: MigrationConnection): Promise<Schema> {
  const { rows } = await query(things)
  const read = rows as { table: string | null; kind: string; name: string; is: string; restricts: boolean }[]
  const named = read.map(
    ({ name, ...thing }) => [`${thing.kind} ${thing.table === null ? '' : `${thing.table}.`}${name}`, thing] as const,
  )
  return {
    things: new Map(named),
    tables: new Set(read.flatMap(({ kind, table }) => (kind === 'column' && table !== null ? [table] : []))),
  }
}
