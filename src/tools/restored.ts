import { connectToDump } from '../store/transfer/connect.ts'
import { markRestored } from '../store/transfer/restored.ts'
import { runDatabaseTool } from './transferTool.ts'

const usage = `npm run restored prepares a database that was restored from a backup, by pg_restore or as a copy of its files, for its first server.
It raises the revisions, so that clients that resume get a SNAPSHOT and mistake no new change for one that they have had, and it has every
worker asked for everything that happened since the backup. npm run load does the same automatically.
The database is the one that the server would use: DATABASE_URL, or the embedded one in XCE_DATA_DIR. No server may use it meanwhile.
A second run does no harm: it raises the revisions once more.`

await runDatabaseTool(usage, async (target, log) => {
  const connection = await connectToDump(target, log)
  try {
    const { before, head, workers, migrations } = await markRestored(connection)
    const applied = migrations.length === 0 ? '' : `Applied ${migrations.join(', ')}.\n`
    const asked =
      workers === 0
        ? 'It knows no worker.'
        : `${workers === 1 ? 'Its worker is' : `Its ${workers} workers are`} asked for everything when they connect.`
    return `${applied}The revisions of ${connection.what} go on from ${head} instead of ${before}: clients get a SNAPSHOT when they resume. ${asked} Start the servers now.`
  } finally {
    await connection.close()
  }
})
