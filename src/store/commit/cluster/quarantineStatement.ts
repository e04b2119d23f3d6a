import { columnsOf } from '../../rows/columns.ts'
import { typedColumns } from '../../rows/sql.ts'
import type { ClusterStatement } from './clusterStatement.ts'

const ports = columnsOf('HostPort')

const freedColumns = { port: ports.port, protocol: ports.protocol }

// A release needs no new allocation: placement that does not know of it yet only finds fewer free ports.
export const quarantine = {
  input: { hostId: ports.hostId, ports: 'jsonb' },
  guard: `
freed AS MATERIALIZED (
  SELECT t."hostId", t."port", t."protocol" FROM "HostPort" t, input x, jsonb_to_recordset(x."ports") AS f(${typedColumns(freedColumns)})
  WHERE t."hostId" = x."hostId" AND t."port" = f."port" AND t."protocol" = f."protocol" AND t."quarantinedUntil" IS NOT NULL
  ORDER BY t."port", t."protocol" FOR UPDATE OF t),
guard AS MATERIALIZED (SELECT 1 FROM freed LIMIT 1)`,
  writes: `
over AS (
  DELETE FROM "HostPort" t USING freed f, counter WHERE t."hostId" = f."hostId" AND t."port" = f."port" AND t."protocol" = f."protocol")`,
} satisfies ClusterStatement
