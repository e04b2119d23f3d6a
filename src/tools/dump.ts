import { connectToDump } from '../store/transfer/connect.ts'
import { dumpLines } from '../store/transfer/dump.ts'
import { writeDumpFile } from './dumpFile.ts'
import { runFileTool, softwareVersion } from './transferTool.ts'

const usage = `npm run dump -- FILE writes the whole database into a file, which npm run load reads.
The database is the one that the server would use: DATABASE_URL, or the embedded one in XCE_DATA_DIR.
Servers on PostgreSQL may go on meanwhile. The server of an embedded database must be stopped; its replicas run on.`

await runFileTool(usage, async (file, target, log) => {
  const connection = await connectToDump(target, log)
  try {
    await writeDumpFile(file, dumpLines(connection, softwareVersion))
    return `${file} contains everything in ${connection.what}, also token hashes and the variables of services: keep it safe.`
  } finally {
    await connection.close()
  }
})
